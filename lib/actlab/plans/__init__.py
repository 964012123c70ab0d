"""Registered plans: their rules, and when they were written."""
