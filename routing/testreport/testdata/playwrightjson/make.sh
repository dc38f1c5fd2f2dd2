#!/bin/sh
# Makes the files beside it with Playwright Test, without a browser; set
# MODULES to a node_modules with @playwright/test in it to spare the installation.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
echo '{"name":"sample","version":"1.0.0"}' > package.json
if [ -n "${MODULES:-}" ]; then cp -r --parents "$MODULES/@playwright" "$MODULES/playwright" "$MODULES/playwright-core" . && mv ".$MODULES" node_modules; else npm install --silent @playwright/test; fi
scrub() { sed -e "s#$dir#/project#g"; }
mkdir tests
cat > tests/a.spec.ts <<'X'
import { test, expect } from "@playwright/test";
test.describe("sum", () => {
  test("adds", () => { expect(1 + 2).toBe(3); });
  test("fails", () => { expect(1 + 2).toBe(4); });
  test("throws", () => { console.log("before the throw"); throw new TypeError("no such thing"); });
  test("throws a string", () => { throw "just a string"; });
  test.skip("skipped", () => {});
  test.fixme("to be fixed", () => {});
  test("is slow", async () => { test.setTimeout(100); await new Promise(() => {}); });
  test.fail("fails as expected", () => { expect(1).toBe(2); });
  test.fail("passes unexpectedly", () => {});
  for (const n of [1, 2]) test(`takes ${n}`, () => { expect(n).toBeLessThan(2); });
  test("passes in the end", ({}, info) => { expect(info.retry).toBe(1); });
});
test.describe("before", () => {
  test.beforeAll(() => { throw new Error("no database"); });
  test("needs the database", () => {});
  test("needs it too", () => {});
});
X
cat > playwright.config.ts <<'X'
import { defineConfig } from "@playwright/test";
export default defineConfig({ testDir: "tests", retries: 1, workers: 1, reporter: "json", projects: [{ name: "one" }, { name: "two", testMatch: /none/ }] });
X
node node_modules/@playwright/test/cli.js test 2>/dev/null | scrub > "$out/failing.json" || true
node node_modules/@playwright/test/cli.js test -g "adds" 2>/dev/null | scrub > "$out/green.json" || true
node node_modules/@playwright/test/cli.js test -g "nothing of that name" 2>/dev/null | scrub > "$out/none.json" || true
echo 'import { nope } from "./missing"; nope(;' > tests/b.spec.ts
node node_modules/@playwright/test/cli.js test 2>/dev/null | scrub > "$out/syntax.json" || true
rm tests/b.spec.ts
cat > playwright.config.ts <<'X'
import { defineConfig } from "@playwright/test";
export default defineConfig({ testDir: "tests", globalSetup: "./setup.ts", reporter: "json" });
X
echo 'export default () => { throw new Error("cannot reach the staging server"); };' > setup.ts
node node_modules/@playwright/test/cli.js test 2>/dev/null | scrub > "$out/setup.json" || true
rm -rf "$dir"
