#!/bin/sh
# Makes the *.txt files of this directory with tape, tap (npm, in
# $NODE_MODULES), node's TAP reporter and perl's prove. bats.txt, tap14.txt,
# short.txt, bailout.txt and testem.txt are by hand after the specification. Run it from this directory.
set -u
out=$PWD
work=/tmp/proj/tap
rm -rf "$work"; mkdir -p "$work/t" "$work/green"; cd "$work" || exit 1
ln -s "$NODE_MODULES" node_modules
scrub() { sed -E "s#$NODE_MODULES#node_modules#g; s#/tmp/proj/tap#/proj#g; s#duration_ms(:?) [0-9.]+#duration_ms\1 1.5#; s#time=[0-9.]+ms#time=1.5ms#; s#[0-9.]+ (wallclock|usr|sys|cusr|csys|CPU)#0.01 \1#g; s#0x[0-9a-f]+#0x7f00#g"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
cat > tape.js <<'T'
const test = require('tape');
test('sums', t => { t.equal(1, 1, 'one is one'); t.equal(2, 3, 'two is three'); t.end(); });
test('objects', t => { t.deepEqual({ a: 1 }, { a: 2 }); t.ok(false, 'later # TODO not written'); t.end(); });
test.skip('skipped', t => { t.fail(); });
test('plan', t => { t.plan(2); t.pass('only one'); });
T
cat > tapgreen.js <<'T'
const test = require('tape');
test('sums', t => { t.equal(1, 1, 'one is one'); t.ok(true, 'skipped', { skip: true }); t.end(); });
T
cat > ntap.js <<'T'
const t = require('tap');
t.test('parent', t => { t.test('child', t => { t.equal(1, 2, 'numbers'); t.end(); }); t.pass('fine'); t.end(); });
t.test('ok parent', t => { t.pass('x'); t.end(); });
t.test('later', { todo: true }, t => { t.fail('x'); t.end(); });
T
cat > node.test.js <<'T'
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
cat > t/a.t <<'T'
use Test::More tests => 5;
ok(1, 'fine'); is(1, 2, 'one is two'); is_deeply([1], [2], 'lists');
TODO: { local $TODO = 'later'; ok(0, 'not yet'); }
SKIP: { skip 'no network', 1; ok(1); }
T
cat > t/b.t <<'T'
use Test::More; ok(1, 'x'); die "died here\n";
T
cat > t/c.t <<'T'
use Test::More tests => 3; ok(1, 'x');
T
cat > t/d.t <<'T'
use Test::More; plan skip_all => 'not here';
T
cat > t/e.t <<'T'
use Test::More; subtest 'sub one' => sub { plan tests => 2; ok(1, 'in'); ok(0, 'in bad'); }; done_testing;
T
cat > green/g.t <<'T'
use Test::More tests => 2; ok(1, 'a'); ok(1, 'b');
T
echo 'use Test::More; BAIL_OUT("no database");' > bail.t
run tape node tape.js
run tape_green node tapgreen.js
run ntap node ntap.js
run node_direct node node.test.js
run node node --test --test-reporter=tap node.test.js
run prove prove t
run prove_v prove -v t
run prove_green prove green
run perl perl t/a.t
run perl_die perl t/b.t
run perl_short perl t/c.t
run bail prove bail.t
