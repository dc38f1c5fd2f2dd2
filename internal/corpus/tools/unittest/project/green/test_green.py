import sys, unittest
class Green(unittest.TestCase):
    def test_a(self):
        sys.stderr.write("ERROR: test_x (mod.X)\n----\nTraceback (most recent call last):\n  File \"x.py\", line 1\nValueError: no\n")
    def test_b(self): pass
    @unittest.skip("x")
    def test_c(self): pass
