#!/bin/sh
# Makes the files beside it with cucumber-js; set MODULES to a node_modules with
# @cucumber/cucumber in it to spare the installation. ruby.json comes from
# Cucumber for Ruby where `cucumber` is installed, behave.json from behave.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
echo '{"name":"sample","version":"1.0.0"}' > package.json
if [ -n "${MODULES:-}" ]; then ln -s "$MODULES" node_modules; else npm install --silent @cucumber/cucumber; fi
scrub() { sed -e "s#$dir#/project#g" -e "s#$(readlink -f "${MODULES:-$dir/node_modules}")#/project/node_modules#g"; }
mkdir -p features/steps features/step_definitions
cat > features/a.feature <<'X'
Feature: Sum

  Background:
    Given a calculator

  Scenario: adds
    When I add 1 and 2
    Then the result is 3

  Scenario: fails
    When I add 1 and 2
    Then the result is 4

  Scenario: throws
    When something breaks

  Scenario: is undefined
    When nobody wrote this step

  Scenario: is pending
    When somebody will write this step

  Scenario Outline: adds <a>
    When I add <a> and 1
    Then the result is 2

    Examples:
      | a |
      | 1 |
      | 2 |

  @broken
  Scenario: has a broken hook
    When I add 1 and 2

  @flaky
  Scenario: passes in the end
    When it works the second time
X
cat > features/steps.js <<'X'
const { Given, When, Then, Before } = require("@cucumber/cucumber");
const assert = require("assert");
let n = 0;
Before({ tags: "@broken" }, () => { throw new Error("no database"); });
Given("a calculator", function () {});
When("I add {int} and {int}", function (a, b) { this.sum = a + b; });
Then("the result is {int}", function (c) { assert.strictEqual(this.sum, c); });
When("something breaks", () => { throw new TypeError("no such thing"); });
When("somebody will write this step", () => "pending");
When("it works the second time", () => { if (n++ < 1) throw new Error("not yet"); });
X
npx cucumber-js --require features/steps.js --retry 1 --retry-tag-filter @flaky --format json:js.json features >/dev/null 2>&1 || true
scrub < js.json > "$out/js.json"
mv features/steps.js .
cat > features/step_definitions/steps.rb <<'X'
$n = 0
Before('@broken') { raise 'no database' }
Given(/^a calculator$/) {}
When(/^I add (\d+) and (\d+)$/) { |a, b| @sum = a.to_i + b.to_i }
Then(/^the result is (\d+)$/) { |c| expect(@sum).to eq(c.to_i) }
When(/^something breaks$/) { raise ArgumentError, 'no such thing' }
When(/^somebody will write this step$/) { pending }
When(/^it works the second time$/) { $n += 1; raise 'not yet' if $n < 2 }
X
echo "require 'rspec/expectations'" > features/env.rb
if command -v cucumber >/dev/null; then
	cucumber --format json --out ruby.json >/dev/null 2>&1 || true
	scrub < ruby.json > "$out/ruby.json"
fi
cat > features/steps/steps.py <<'X'
from behave import given, when, then
@given('a calculator')
def a(c): pass
@when('I add {a:d} and {b:d}')
def add(c, a, b): c.sum = a + b
@then('the result is {r:d}')
def result(c, r): assert c.sum == r, f"{c.sum} is not {r}"
@when('something breaks')
def breaks(c): raise ValueError("no such thing")
@when('somebody will write this step')
def later(c): raise NotImplementedError()
@when('it works the second time')
def second(c): pass
X
if command -v behave >/dev/null; then
	behave -f json -o behave.json >/dev/null 2>&1 || true
	scrub < behave.json > "$out/behave.json"
fi
rm -rf "$dir"
