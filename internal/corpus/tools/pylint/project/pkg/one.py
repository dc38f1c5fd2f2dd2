"""One."""
from pkg.two import missing


def same(values):
    """Return what is the same."""
    result = []
    for value in values:
        if value:
            result.append(value)
    return result + missing
