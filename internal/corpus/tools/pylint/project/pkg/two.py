"""Two."""


def other():
    """Return nothing."""
    return self.value
