#!/bin/sh
# Makes the *.txt files of this directory with bun from npm in $NODE_MODULES.
set -u
out=$PWD
work=/tmp/proj/bun
rm -rf "$work"; mkdir -p "$work"; cd "$work" || exit 1
scrub() { sed -E "s#/tmp/proj/bun#/proj#g; s#\[[0-9.]+ms\]#[1.50ms]#g"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
cat > a.test.ts <<'T'
import { describe, it, test, expect, beforeAll } from 'bun:test';
describe('suite', () => {
  it('passes', () => {});
  it('adds up', () => expect(1 + 1).toBe(3));
  describe('nested', () => { it('throws', () => { throw new TypeError('bad'); }); });
  it.skip('skips', () => {}); it.todo('todo');
  test.each([1, 2])('each %d', n => expect(n).toBe(1));
});
describe('hooks', () => { beforeAll(() => { throw new Error('no database'); }); it('never', () => {}); });
test('slow', async () => { await new Promise(r => setTimeout(r, 500)); }, 20);
T
echo "import { test } from 'bun:test'; test('a', () => {}); test.skip('b', () => {});" > green.test.ts
echo "import 'nothing-of-this-name';" > broken.test.ts
b="$NODE_MODULES/.bin/bun test"
run failing $b a.test.ts
run green $b green.test.ts
run broken $b broken.test.ts green.test.ts
run all $b
run none $b nothere
