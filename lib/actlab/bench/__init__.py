"""Measurements of speed, each against a named peer in the same run. No study depends on it."""
