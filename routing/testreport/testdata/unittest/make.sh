#!/bin/sh
# Makes the *.txt files of this directory with python3 (3.11 there), except
# nose.txt, django.txt, xmlrunner.txt and trial.txt, which are written by hand
# after the tools' documentation. Run it from this directory.
set -u
out=$PWD
work=/tmp/proj/unittest
rm -rf "$work"; mkdir -p "$work/green"; cd "$work" || exit 1
export PYTHONDONTWRITEBYTECODE=1
scrub() { sed -E 's#/tmp/proj/unittest#/proj#g; s# in [0-9]+\.[0-9]+s$# in 0.005s#; s#/[^ "]*/lib/python3#/usr/lib/python3#g; s#0x[0-9a-f]{6,}#0x7f00#g'; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }

cat > test_mix.py <<'T'
import unittest
class TestSums(unittest.TestCase):
    def test_ok(self): self.assertEqual(1, 1)
    def test_fails(self): self.assertEqual(1 + 1, 3)
    def test_doc(self):
        """Adds up the way people do."""
        self.assertEqual("a", "b", "letters differ")
    def test_error(self):
        raise ValueError("bad value")
    @unittest.skip("not now")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_xfail(self): self.fail("known")
    @unittest.expectedFailure
    def test_xpass(self): pass
    def test_sub(self):
        for i in range(3):
            with self.subTest("part", i=i):
                self.assertEqual(i, 1)
    def test_chained(self):
        try:
            {}["k"]
        except KeyError as e:
            raise RuntimeError("outer") from e
class TestSetup(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("no database")
    def test_a(self): pass
    def test_b(self): pass
T
cat > test_import.py <<'T'
import nothing_of_this_name
T
cat > green/test_green.py <<'T'
import unittest
class TestGreen(unittest.TestCase):
    def test_a(self): pass
    def test_b(self): pass
    @unittest.skip("later")
    def test_c(self): pass
T
mkdir crash; cat > crash/test_crash.py <<'T'
import os, unittest
class TestCrash(unittest.TestCase):
    def test_a(self): self.fail("first")
    def test_b(self): os.abort()
T
mkdir modsetup; cat > modsetup/test_mod.py <<'T'
import unittest
def setUpModule(): raise RuntimeError("no module today")
class TestM(unittest.TestCase):
    def test_a(self): pass
T
mkdir empty; echo > empty/test_none.py
run failing python3 -m unittest
run failing_v python3 -m unittest -v
run green python3 -m unittest discover -s green
run green_v python3 -m unittest discover -v -s green
run crash_v python3 -X faulthandler -m unittest discover -v -s crash
run crash python3 -m unittest discover -s crash
run module python3 -m unittest discover -s modsetup
run empty python3 -m unittest discover -s empty
run failfast python3 -m unittest -f test_mix
