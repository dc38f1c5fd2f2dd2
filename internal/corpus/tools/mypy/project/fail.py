"""Doc."""
import os


def add(left: int, right: int) -> int:
    """Add."""
    total = left + undefined_name
    return "text"
