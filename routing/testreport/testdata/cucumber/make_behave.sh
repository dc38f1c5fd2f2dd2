#!/bin/sh
# Makes behave_*.txt of this directory with Debian's python3-behave.
set -u
out=$PWD
work=/tmp/proj/behave
rm -rf "$work"; mkdir -p "$work/features/steps"; cd "$work" || exit 1
scrub() { sed -E "s#/tmp/proj/behave#/proj#g; s#[0-9]+\.[0-9]{3}s?#0.001s#g"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
cat > features/steps/s.py <<'T'
from behave import given, then
@given('a number {n:d}')
def g(c, n): c.n = n
@then('it is {n:d}')
def t(c, n): assert c.n == n, "%d is not %d" % (c.n, n)
@then('it breaks')
def b(c): raise ValueError("bad")
T
cat > features/a.feature <<'T'
Feature: Sums
  Scenario: passes
    Given a number 1
    Then it is 1
  Scenario: fails
    Given a number 1
    Then it is 2
  Scenario: breaks
    Given a number 1
    Then it breaks
  Scenario: undefined
    Given nothing known
  Scenario Outline: outline
    Given a number <n>
    Then it is 1
    Examples:
      | n |
      | 1 |
      | 2 |
T
mkdir green; cp -r features/steps green/; printf 'Feature: G\n  Scenario: ok\n    Given a number 1\n    Then it is 1\n' > green/g.feature
run behave_failing /usr/bin/python3 -m behave --no-color features
run behave_green /usr/bin/python3 -m behave --no-color green
