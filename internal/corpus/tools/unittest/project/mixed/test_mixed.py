# -*- coding: utf-8 -*-
import sys, unittest
def helper(v):
    raise ValueError("value %d is too large\nsecond line" % v)
class MixedTest(unittest.TestCase):
    def test_passes(self):
        """Says what it does."""
        self.assertTrue(True)
    def test_assertion(self):
        self.assertEqual({"a": 1}, {"a": 2})
    def test_documented(self):
        """The sum is right."""
        self.assertEqual(1 + 1, 3, "sums differ")
    def test_exception(self):
        helper(3)
    @unittest.skip("not here")
    def test_skipped(self):
        pass
    @unittest.expectedFailure
    def test_expected_failure(self):
        self.fail("known")
    @unittest.expectedFailure
    def test_unexpected_success(self):
        pass
    def test_subtests(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1)
    def test_größe(self):
        self.assertIn("x", ["ä"])
    def test_noisy(self):
        sys.stdout.write("FAIL: test_fake (test_other.Fake)\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n")
class BadSetup(unittest.TestCase):
    def setUp(self):
        raise OSError("no such device")
    def test_one(self): pass
class BadClassSetup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("class set-up failed")
    def test_one(self): pass
    def test_two(self): pass
class OtherTest(unittest.TestCase):
    def test_assertion(self):
        self.assertEqual("abc\ndef\n", "abc\nxyz\n")
    def tearDown(self):
        if self._testMethodName == "test_teardown": raise KeyError("gone")
    def test_teardown(self): pass
