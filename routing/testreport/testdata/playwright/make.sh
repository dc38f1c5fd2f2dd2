#!/bin/sh
# Makes the *.txt files of this directory with @playwright/test from npm in
# $NODE_MODULES; the tests open no browser.
set -u
out=$PWD
work=/tmp/proj/playwright
rm -rf "$work"; mkdir -p "$work/tests" "$work/green" "$work/broken"; cd "$work" || exit 1
ln -s "$NODE_MODULES" node_modules
scrub() { sed -E "s#$NODE_MODULES#node_modules#g; s#/tmp/proj/playwright#/proj#g; s#\([0-9.]+(ms|s)\)#(1.5s)#g"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
export CI=1 FORCE_COLOR=0
cat > playwright.config.ts <<'T'
import { defineConfig } from '@playwright/test';
export default defineConfig({ retries: 1, workers: 1, projects: [{ name: 'chromium' }] });
T
cat > tests/a.spec.ts <<'T'
import { test, expect } from '@playwright/test';
test.describe('suite', () => {
  test('passes', () => {});
  test('adds up', () => { expect(1 + 1).toBe(3); });
  test('flaky', ({}, info) => { expect(info.retry).toBe(1); });
  test.skip('skips', () => {});
  test.fixme('fixme', () => {});
  test('times out', async () => { test.setTimeout(50); await new Promise(() => {}); });
  test.fail('should fail', () => { throw new Error('known'); });
});
test.describe('hooks', () => { test.beforeAll(() => { throw new Error('no database'); }); test('never', () => {}); test('never two', () => {}); });
T
echo "import { test } from '@playwright/test'; test('a', () => {}); test.skip('b', () => {});" > green/g.spec.ts
echo "import 'nothing-of-this-name';" > broken/b.spec.ts
p="node_modules/.bin/playwright test"
run list $p --reporter=list tests
run line $p --reporter=line tests
run dot $p --reporter=dot tests
run github $p --reporter=github tests
run green $p --reporter=list green
run broken $p --reporter=list broken
run none $p --reporter=list nothere
