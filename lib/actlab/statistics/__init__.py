"""Statistics that know what is independent: trials are, pairs of trials are not.  Arrays in, small frozen results out;
no files, no plots.

NaN marks a missing or diverged trial: it is left out, ``n`` counts the rest, and where too few remain the value or its
interval is NaN.
"""
