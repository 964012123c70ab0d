"""The numbers of typed prose. Not a test."""

import re

NUMBER = re.compile(r"(?<![\w.\-/])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|\.\d)")


def numbers(text):
    """Those of a text, without sign and separator; 0 is none."""
    return {found.lstrip("+-").replace(",", "") for found in NUMBER.findall(text)} - {"0"}
