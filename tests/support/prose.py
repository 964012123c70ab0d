"""The numbers of typed prose. Not a test."""

import ast
import re

NUMBER = re.compile(r"(?<![\w.\-/])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|\.\d)")


def numbers(text):
    """Those of a text, without sign and separator; 0 is none."""
    return {found.lstrip("+-").replace(",", "") for found in NUMBER.findall(text)} - {"0"}


def statements(tree):
    """The second argument of every ``holds`` in Python's syntax tree."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call.args[1] for call in calls if ast.unparse(call.func).rpartition(".")[2] == "holds"]
