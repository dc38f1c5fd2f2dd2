#!/bin/sh
# Makes the *.txt files of this directory and ../ava/failing.txt with mocha and ava from npm, found in
# $NODE_MODULES. Run it from this directory.
set -u
out=$PWD
work=/tmp/proj/mocha
rm -rf "$work"; mkdir -p "$work/test" "$work/green" "$work/broken" "$work/ava"; cd "$work" || exit 1
ln -s "$NODE_MODULES" node_modules
scrub() { sed -E "s#$NODE_MODULES#node_modules#g; s#/tmp/proj/mocha#/proj#g; s#\([0-9]+ms\)#(5ms)#g"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
export FORCE_COLOR=0
cat > test/a.spec.js <<'T'
const assert = require('assert');
describe('outer', function () {
  describe('inner: colon', function () {
    it('passes', () => {});
    it('adds up', () => { assert.strictEqual(1 + 1, 3); });
    it('compares objects', () => { assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }); });
    it('throws', () => { null.x; });
    it.skip('is pending', () => {});
    it('is todo');
  });
  describe('hooks', function () {
    before(() => { throw new Error('no database'); });
    it('never runs', () => {});
  });
  describe('after each', function () {
    afterEach('clean up', () => { throw new Error('cannot clean'); });
    it('runs', () => {});
  });
  describe('ends in colon:', function () {
    it('fails too', () => { throw new Error('multi\nline\n\nmessage'); });
  });
  it('times out', function (done) { this.timeout(20); });
  it('retries', function () { this.retries(2); if (!global.n) global.n = 0; if (global.n++ < 1) throw new Error('once'); });
});
it('top level', () => { throw 'a string'; });
T
cat > green/g.spec.js <<'T'
describe('g', () => { it('a', () => {}); it('b', () => {}); it.skip('c', () => {}); });
T
echo "require('nothing-of-this-name');" > broken/b.spec.js
cat > ava/t.js <<'T'
const test = require('ava');
test('passes', t => t.pass());
test('fails', t => t.is(1 + 1, 3));
test('throws', t => { throw new Error('boom'); });
test.skip('skipped', t => t.pass());
test.todo('later');
test.failing('known', t => t.fail());
T
echo '{"name":"proj","ava":{"files":["ava/*.js"]}}' > package.json
m=node_modules/.bin/mocha
run failing $m test
run failing_dot $m -R dot test
run failing_min $m -R list test
run bail $m -b test
run green $m green
run broken $m broken
run no_files $m nothere
run ../ava/failing node_modules/.bin/ava
