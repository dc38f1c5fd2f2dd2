#!/bin/sh
# Makes ruby_*.txt with Debian's cucumber; js_*.txt and jvm_*.txt are by hand after the documentation.
set -u
out=$PWD
work=/tmp/proj/cucumber
rm -rf "$work"; mkdir -p "$work/features/step_definitions"; cd "$work" || exit 1
scrub() { sed -E "s#/tmp/proj/cucumber#/proj#g; s#^0m[0-9.]+s#0m0.010s#"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
cat > features/step_definitions/s.rb <<'T'
Given(/^a number (\d+)$/) { |n| @n = n.to_i }
Then(/^it is (\d+)$/) { |n| raise "#{@n} is not #{n}" unless @n == n.to_i }
T
cat > features/a.feature <<'T'
Feature: Sums
  Scenario: passes
    Given a number 1
    Then it is 1
  Scenario: fails
    Given a number 1
    Then it is 2
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
mkdir green; printf 'Feature: G\n  Scenario: ok\n    Given a number 1\n    Then it is 1\n' > green/g.feature
run ruby_failing cucumber --no-color features
run ruby_green cucumber --no-color -r features green
