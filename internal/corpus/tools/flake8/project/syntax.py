"""Doc."""


def add(left, right)
    return left
