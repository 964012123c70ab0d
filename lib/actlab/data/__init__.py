"""Data: splits are fixed by position, checksums verified, randomness passed in."""
