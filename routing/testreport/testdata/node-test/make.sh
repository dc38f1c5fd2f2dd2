#!/bin/sh
# Makes the *.txt files of this directory with node (20.20 there).
set -u
out=$PWD
work=/tmp/proj/nodetest
rm -rf "$work"; mkdir -p "$work"; cd "$work" || exit 1
scrub() { sed -E "s#/tmp/proj/nodetest#/proj#g; s#\([0-9.]+ms\)#(1.5ms)#g; s#duration_ms(:?) [0-9.]+#duration_ms\1 50#"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
cat > a.test.js <<'T'
const { describe, it, test, before } = require('node:test'); const assert = require('assert');
describe('suite', () => {
  it('passes', () => {});
  it('adds up', () => assert.strictEqual(1 + 1, 3));
  describe('nested', () => { it('throws', () => { throw new TypeError('bad'); }); });
  it.skip('skips', () => {}); it.todo('todo');
});
test('parent', async t => { await t.test('sub', () => { throw new Error('sub fails'); }); });
describe('hooks', () => { before(() => { throw new Error('no database'); }); it('never', () => {}); });
test('fails todo', { todo: true }, () => { throw new Error('x'); });
T
echo "const { test } = require('node:test'); test('a', () => {}); test('b', { skip: true }, () => {});" > green.js
echo "require('nothing-of-this-name');" > broken.js
echo "const { test } = require('node:test'); test('dies', () => { process.exit(3); });" > exits.js
run failing node --test --test-reporter=spec a.test.js
run green node --test --test-reporter=spec green.js
run broken node --test --test-reporter=spec broken.js
run exits node --test --test-reporter=spec exits.js green.js
