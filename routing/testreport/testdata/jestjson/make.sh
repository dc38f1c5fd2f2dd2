#!/bin/sh
# Makes the files beside it with jest; set MODULES to a node_modules with jest
# in it to spare the installation.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
echo '{"name":"sample","version":"1.0.0"}' > package.json
if [ -n "${MODULES:-}" ]; then ln -s "$MODULES" node_modules; else npm install --silent jest; fi
scrub() { sed -e "s#$dir#/project#g" -e "s#$(readlink -f "${MODULES:-$dir/node_modules}")#/project/node_modules#g"; }
cat > sum.test.js <<'X'
const sum = (a, b) => a + b;
describe("sum", () => {
  test("adds", () => { expect(sum(1, 2)).toBe(3); });
  test("fails", () => { expect(sum(1, 2)).toBe(4); });
  test("throws", () => { throw new TypeError("no such thing"); });
  test.skip("skipped", () => {});
  test.todo("to be written");
  test.each([[1, 1, 2], [1, 2, 4]])("%i + %i = %i", (a, b, c) => { expect(sum(a, b)).toBe(c); });
  test("is slow", () => new Promise(() => {}), 50);
  describe("deeper > than it looks", () => {
    test("compares objects", () => { expect({ a: 1, b: [1] }).toEqual({ a: 1, b: [2] }); });
  });
});
test("at the top: ünïcödé \u{1F600}", () => {});
X
cat > hooks.test.js <<'X'
describe("before", () => {
  beforeAll(() => { throw new Error("no database"); });
  test("needs the database", () => {});
});
describe("after", () => {
  afterAll(() => { throw new Error("cannot close"); });
  test("is fine", () => {});
});
X
cat > retry.test.js <<'X'
let n = 0;
jest.retryTimes(2, { logErrorsBeforeRetry: true });
test("passes in the end", () => { if (n++ < 1) throw new Error("not yet"); });
test("never passes", () => { expect(n).toBe(-1); });
X
cat > syntax.test.js <<'X'
test("never runs", () => { expect(1).toBe(1)
X
cat > missing.test.js <<'X'
const x = require("./does-not-exist");
test("never runs either", () => {});
X
cat > empty.test.js <<'X'
// no test here
X
npx jest --ci --json 2>/dev/null | scrub > "$out/failing.json" || true
npx jest --ci --json sum --testNamePattern "adds|at the top" 2>/dev/null | scrub > "$out/green.json" || true
npx jest --ci --json --testLocationInResults sum retry 2>/dev/null | scrub > "$out/location.json" || true
cat > jest.config.js <<'X'
module.exports = { collectCoverage: true, coverageReporters: ["none"], coverageThreshold: { global: { lines: 100 } }, collectCoverageFrom: ["lib.js"] };
X
echo 'exports.a = 1; exports.b = function () { return 2; };' > lib.js
npx jest --ci --json sum --testNamePattern "adds" 2>/dev/null | scrub > "$out/coverage.json" || true
rm -rf "$dir"
