#!/bin/sh
# Makes the files beside it with pytest. The plugin pytest-reportlog is not
# needed: what it writes is what pytest's own hook makes of each report, with
# two lines around, and the conftest.py below does the same.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
scrub() { sed -e "s#$dir#/project#g"; }
cat > conftest.py <<'X'
import json, os, pytest
def write(data):
    with open(os.environ["LOG"], "a") as f:
        f.write(json.dumps(data) + "\n")
def pytest_sessionstart(session): write({"pytest_version": pytest.__version__, "$report_type": "SessionStart"})
def pytest_sessionfinish(session, exitstatus): write({"exitstatus": exitstatus, "$report_type": "SessionFinish"})
config = None
def pytest_configure(config): globals().update(config=config)
def one(report):
    data = config.hook.pytest_report_to_serializable(config=config, report=report)
    write(data)
def pytest_runtest_logreport(report): one(report)
def pytest_collectreport(report): one(report)
X
cat > test_sum.py <<'X'
import pytest, unittest
def test_adds(): assert 1 + 2 == 3
def test_fails(): assert 1 + 2 == 4
def test_throws():
    print("before the throw")
    raise ValueError("no such thing")
@pytest.mark.skip(reason="not today")
def test_skipped(): pass
@pytest.mark.xfail(reason="known")
def test_xfail(): assert False
@pytest.mark.xfail(strict=True, reason="known")
def test_xpass_strict(): pass
@pytest.mark.xfail(reason="known")
def test_xpass(): pass
@pytest.mark.parametrize("a,b", [(1, 1), (1, 2), ("x::y", "z[0]")])
def test_pairs(a, b): assert a == b
@pytest.fixture
def database(): raise RuntimeError("no database")
def test_needs_database(database): pass
@pytest.fixture
def closing():
    yield
    raise RuntimeError("cannot close")
def test_closing(closing): pass
class TestClass:
    def test_method(self): assert {"a": 1} == {"a": 2}
class TestUnit(unittest.TestCase):
    def test_unit(self): self.assertEqual(1, 2)
X
echo 'def test_fine(): pass' > test_green.py
LOG=log pytest -q -p no:cacheprovider test_sum.py >/dev/null 2>&1 || true
scrub < log > "$out/failing.jsonl"; rm log
LOG=log pytest -q -p no:cacheprovider test_green.py >/dev/null 2>&1 || true
scrub < log > "$out/green.jsonl"; rm log
echo 'import does_not_exist' > test_import.py
echo 'def test_x(:' > test_syntax.py
LOG=log pytest -q -p no:cacheprovider >/dev/null 2>&1 || true
scrub < log > "$out/collect.jsonl"; rm log
LOG=log pytest -q -p no:cacheprovider test_green.py -k nothing >/dev/null 2>&1 || true
scrub < log > "$out/none.jsonl"; rm log
printf 'import os\ndef test_first(): pass\ndef test_exits(): os._exit(3)\n' > test_crash.py
LOG=log pytest -q -p no:cacheprovider test_crash.py >/dev/null 2>&1 || true
scrub < log > "$out/crash.jsonl"; rm log
rm -rf "$dir"
