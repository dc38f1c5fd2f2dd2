def double(x):
    """Doubles a number.

    >>> double(2)
    4
    >>> double(3)
    7
    """
    return 2 * x

class TestOuter:
    def test_same_name(self):
        assert double(2) == 5

def test_raises_from():
    try:
        {}["missing"]
    except KeyError as e:
        raise RuntimeError("lookup failed") from e
