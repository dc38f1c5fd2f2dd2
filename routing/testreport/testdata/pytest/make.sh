#!/bin/sh
# Makes the *.txt files of this directory. Needs Debian's python3-pytest,
# python3-pytest-xdist, -timeout, -cov and -rerunfailures (pytest 7.2.1 there).
# Run it from this directory.
set -u
out=$PWD
work=/tmp/proj/pytest
rm -rf "$work"; mkdir -p "$work/tests"; cd "$work" || exit 1
export COLUMNS=80 PYTHONDONTWRITEBYTECODE=1 NO_COLOR=1
py="/usr/bin/python3 -m pytest -p no:cacheprovider"

scrub() { sed -E 's#/tmp/pytest-of-[a-z]+/pytest-[0-9]+#/scratch#g; s#/tmp/proj/pytest#/proj#g; s# in [0-9]+\.[0-9]+s# in 0.05s#; s#0x[0-9a-f]{6,}#0x7f00#g; s#^plugins: .*#plugins: xdist, timeout, cov, rerunfailures#; s#/usr/lib/python3/dist-packages#/usr/lib/python3/dist-packages#g'; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }

cat > tests/test_ok.py <<'T'
import pytest
def test_one(): assert 1 == 1
@pytest.mark.parametrize("s", ["a", "b - c", "d::e", "x y"])
def test_param(s): assert s
@pytest.mark.skip(reason="not now")
def test_skipped(): pass
@pytest.mark.xfail(reason="known")
def test_xfails(): assert 0
@pytest.mark.xfail
def test_xpasses(): pass
T
run green $py
run green_q $py -q
run green_v $py -v

cat > tests/test_bad.py <<'T'
import pytest
def helper(n): raise ValueError("bad value %d" % n)
class TestSums:
    def test_sum(self):
        print("adding up")
        assert 1 + 1 == 3
    @pytest.mark.parametrize("s", ["a", "b - c", "d::e", "x y", "[z"])
    def test_param(self, s):
        assert s == "b"
def test_helper():
    helper(3)
def test_chain():
    try:
        {}["k"]
    except KeyError as e:
        raise RuntimeError("no key") from e
def test_dict(): assert {"a": 1, "b": 2} == {"a": 1, "b": 3}
def test_fail(): pytest.fail("on purpose")
@pytest.mark.xfail(strict=True, reason="must fail")
def test_strict(): pass
@pytest.fixture
def broken(): raise OSError("no fixture")
def test_setup(broken): pass
@pytest.fixture
def leaves():
    yield
    raise OSError("left over")
def test_teardown(leaves): pass
T
run failing $py
run failing_v $py -v
run failing_rA $py -rA
run failing_short $py --tb=short -q
run failing_line $py --tb=line
run failing_native $py --tb=native
run failing_no $py --tb=no
run failing_vv_s $py -v -s
run failing_quiet $py -q -rN
run failing_xdist $py -n 2
run failing_xdist_v $py -n 2 -v --tb=short

rm tests/test_bad.py
cat > tests/test_coll.py <<'T'
import nothing_of_this_name
T
cat > tests/test_syn.py <<'T'
def test_x(:
    pass
T
run collection $py
run collection_continue $py --continue-on-collection-errors -q
rm tests/test_coll.py tests/test_syn.py

cat > tests/test_time.py <<'T'
import time
def test_before(): pass
def test_slow(): time.sleep(30)
T
run timeout_signal $py --timeout=1 tests/test_time.py
run timeout_thread $py -v --timeout=1 --timeout-method=thread tests/test_time.py
rm tests/test_time.py

cat > tests/test_crash.py <<'T'
import os
def test_before(): pass
def test_crash(): os.abort()
def test_after(): pass
T
run crash $py -v tests/test_crash.py
run crash_xdist $py -n 2 tests/test_crash.py
rm tests/test_crash.py

cat > tests/test_flaky.py <<'T'
n = 0
def test_second_time():
    global n
    n += 1
    assert n > 1
def test_never(): assert 0
T
run rerun $py -v --reruns 2 tests/test_flaky.py
run rerun_summary $py -rR --reruns 2 tests/test_flaky.py
rm tests/test_flaky.py

cat > lib.py <<'T'
def used(): return 1
def unused():
    a = 1
    return a
T
cat > tests/test_lib.py <<'T'
import sys; sys.path.insert(0, ".")
import lib
def test_used(): assert lib.used() == 1
T
run coverage $py --cov=lib --cov-fail-under=80 tests/test_lib.py
rm tests/test_lib.py

run no_tests $py -k no_such_test
run usage $py tests/none_such.py
run usage_option $py --no-such-option
run exitfirst $py -x tests/test_ok.py
cat > tests/conftest.py <<'T'
import nothing_of_this_name
T
run conftest $py
cat > tests/conftest.py <<'T'
def pytest_runtest_setup(item): 1 / 0
def pytest_collection_modifyitems(items): raise RuntimeError("in a hook")
T
run internal $py
cat > tests/conftest.py <<'T'
import pytest
def pytest_runtest_setup(item): pytest.exit("enough")
T
run exit $py
rm tests/conftest.py

cat > tests/test_nested.py <<'T'
pytest_plugins = ["pytester"]
def test_plugin(pytester):
    pytester.makepyfile("def test_inner(): assert 0")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)
def test_after(): assert 2 == 3
T
run nested $py tests/test_nested.py
rm tests/test_nested.py
