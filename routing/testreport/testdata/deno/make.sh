#!/bin/sh
# Makes the *.txt files of this directory with deno from npm in $NODE_MODULES.
set -u
out=$PWD
work=/tmp/proj/deno
rm -rf "$work"; mkdir -p "$work"; cd "$work" || exit 1
scrub() { sed -E "s#/tmp/proj/deno#/proj#g; s#\([0-9.]+m?s\)#(5ms)#g"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
export NO_COLOR=1
cat > a_test.ts <<'T'
import assert from 'node:assert';
Deno.test('passes', () => {});
Deno.test('adds up', () => { assert.strictEqual(1 + 1, 3); });
Deno.test('throws', () => { throw new TypeError('bad'); });
Deno.test({ name: 'ignored', ignore: true, fn() {} });
Deno.test('steps', async t => { await t.step('one', () => {}); await t.step('two', async t => { await t.step('inner', () => { throw new Error('in step'); }); }); });
Deno.test('prints', () => { console.log('hello'); });
Deno.test('leaks', () => { setTimeout(() => {}, 10000); });
T
echo "Deno.test('a', () => {}); Deno.test({ name: 'b', ignore: true, fn() {} });" > green_test.ts
echo "throw new Error('at load');" > broken_test.ts
echo "const x: number = 'a'; Deno.test('a', () => { x; });" > types_test.ts
d="$NODE_MODULES/.bin/deno test"
run failing $d a_test.ts
run green $d green_test.ts
run broken $d broken_test.ts green_test.ts
run types $d types_test.ts
run none $d nothere_test.ts
