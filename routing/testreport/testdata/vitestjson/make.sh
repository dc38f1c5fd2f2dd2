#!/bin/sh
# Makes the files beside it with vitest; set MODULES to a node_modules with
# vitest in it to spare the installation.
# unhandled.json is green although vitest exits with 1: its JSON says success,
# and the unhandled error stands on the standard error alone.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
echo '{"name":"sample","version":"1.0.0","type":"module"}' > package.json
if [ -n "${MODULES:-}" ]; then ln -s "$MODULES" node_modules; else npm install --silent vitest; fi
scrub() { sed -e "s#$dir#/project#g" -e "s#$(readlink -f "${MODULES:-$dir/node_modules}")#/project/node_modules#g"; }
cat > sum.test.js <<'X'
import { describe, test, expect, beforeAll } from "vitest";
const sum = (a, b) => a + b;
describe("sum", () => {
  test("adds", () => { expect(sum(1, 2)).toBe(3); });
  test("fails", () => { expect(sum(1, 2)).toBe(4); });
  test("throws", () => { throw new TypeError("no such thing"); });
  test.skip("skipped", () => {});
  test.todo("to be written");
  test.each([[1, 1, 2], [1, 2, 4]])("%i + %i = %i", (a, b, c) => { expect(sum(a, b)).toBe(c); });
  test("is slow", () => new Promise(() => {}), 50);
});
describe("before", () => {
  beforeAll(() => { throw new Error("no database"); });
  test("needs the database", () => {});
});
let n = 0;
test("passes in the end", { retry: 2 }, () => { if (n++ < 1) throw new Error("not yet"); });
X
cat > missing.test.js <<'X'
import "./does-not-exist.js";
import { test } from "vitest";
test("never runs", () => {});
X
cat > syntax.test.js <<'X'
import { test } from "vitest";
test("never runs", () => { const a = ; });
X
cat > green.test.js <<'X'
import { test } from "vitest";
test("is fine", () => {});
X
cat > unhandled.test.js <<'X'
import { test } from "vitest";
test("is fine, but", () => { setTimeout(() => { throw new Error("too late"); }, 1); return new Promise((r) => setTimeout(r, 50)); });
X
npx vitest run --reporter=json sum missing syntax 2>/dev/null | scrub > "$out/failing.json" || true
npx vitest run --reporter=json green 2>/dev/null | scrub > "$out/green.json" || true
npx vitest run --reporter=json unhandled 2>/dev/null | scrub > "$out/unhandled.json" || true
rm -rf "$dir"
