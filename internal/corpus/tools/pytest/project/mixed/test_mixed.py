# -*- coding: utf-8 -*-
import sys
import unittest
import pytest

def helper(v):
    if v > 2:
        raise ValueError("value %d is too large\nsecond line of the message" % v)
    return v

def test_passes():
    assert helper(1) == 1

def test_assertion():
    left = {"name": "alpha", "size": 3}
    assert left == {"name": "beta", "size": 3}

def test_exception():
    helper(3)

@pytest.mark.skip(reason="not on this platform")
def test_skipped():
    assert False

@pytest.mark.xfail(reason="known defect")
def test_expected_failure():
    assert 1 == 2

@pytest.mark.xfail(strict=True)
def test_unexpected_success():
    assert True

@pytest.mark.parametrize("value", [1, 2, 5, "a - b", u"größe"])
def test_parametrized(value):
    assert value in (1, 2)

class TestOuter:
    class TestInner:
        def test_nested(self):
            assert "abc" in "xyz", "nothing in common"
    def test_same_name(self):
        assert 1
    def test_other(self, broken):
        assert 1

@pytest.fixture
def broken():
    raise RuntimeError("no database here")

@pytest.fixture
def bad_teardown():
    yield 1
    raise OSError("cannot clean up")

def test_fixture(broken):
    pass

def test_teardown(bad_teardown):
    assert bad_teardown == 1

def test_größe_passt():
    assert u"ä" == u"ö"

def test_noisy_passes():
    print("FAILED test_other.py::test_not_real - assert 1 == 2")
    print("=========== 3 failed, 2 passed in 0.12s ===========")
    sys.stderr.write("Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\nValueError: not real\n")

def test_noisy_fails():
    print("============================= test session starts ==============================")
    print("collected 7 items")
    print("test_x.py F......")
    print("=========================== short test summary info ============================")
    print("FAILED test_x.py::test_captured - assert 0")
    print("==================== 1 failed, 6 passed in 0.05s ====================")
    assert False

def test_pytest_fail():
    pytest.fail("stopped on purpose")

class LegacyCase(unittest.TestCase):
    def test_equal(self):
        self.assertEqual([1, 2, 3], [1, 2, 4])
    def test_sub(self):
        with self.subTest(i=1):
            self.assertTrue(True)
