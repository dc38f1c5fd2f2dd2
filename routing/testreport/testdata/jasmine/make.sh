#!/bin/sh
# Makes the *.txt files of this directory with jasmine from npm, found in
# $NODE_MODULES; node.txt (jasmine-node) is by hand.
set -u
out=$PWD
work=/tmp/proj/jasmine
rm -rf "$work"; mkdir -p "$work/spec/support" "$work/green"; cd "$work" || exit 1
ln -s "$NODE_MODULES" node_modules
scrub() { sed -E "s#$NODE_MODULES#node_modules#g; s#/tmp/proj/jasmine#/proj#g; s#in [0-9.]+ seconds#in 0.01 seconds#"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
cat > spec/a.spec.js <<'T'
describe('outer', () => {
  describe('inner', () => {
    it('passes', () => { expect(1).toBe(1); });
    it('adds up', () => { expect(1 + 1).toBe(3); expect(2).toBe(4); });
    it('throws', () => { null.x; });
    xit('is pending', () => {});
    it('says pending', () => { pending('later'); });
  });
  describe('hooks', () => { beforeAll(() => { throw new Error('no database'); }); it('never runs', () => {}); });
  describe('after', () => { afterAll(() => { throw new Error('cannot clean'); }); it('runs', () => { expect(1).toBe(1); }); });
});
T
echo "describe('g', () => { it('a', () => { expect(1).toBe(1); }); it('b', () => { expect(1).toBe(1); }); xit('c', () => {}); });" > green/g.spec.js
j=node_modules/.bin/jasmine
run failing $j --random=false 'spec/*.spec.js'
run green $j --random=false 'green/*.spec.js'
run no_specs $j 'nothere/*.js'
echo "require('nothing-of-this-name');" > green/broken.spec.js
run broken $j --random=false 'green/*.spec.js'
