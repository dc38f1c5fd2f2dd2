"""A module that is clean."""


def total(items):
    """Return the sum of the items."""
    return sum(items)
