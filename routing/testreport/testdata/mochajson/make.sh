#!/bin/sh
# Makes the files beside it with mocha; set MODULES to a node_modules with
# mocha in it to spare the installation.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
echo '{"name":"sample","version":"1.0.0"}' > package.json
if [ -n "${MODULES:-}" ]; then ln -s "$MODULES" node_modules; else npm install --silent mocha; fi
scrub() { sed -e "s#$dir#/project#g" -e "s#$(readlink -f "${MODULES:-$dir/node_modules}")#/project/node_modules#g"; }
cat > all.js <<'X'
const assert = require("assert");
describe("sum", () => {
  it("adds", () => assert.strictEqual(1 + 2, 3));
  it("fails", () => assert.strictEqual(1 + 2, 4));
  it("compares objects", () => assert.deepStrictEqual({ a: 1 }, { a: 2 }));
  it("throws", () => { throw new TypeError("no such thing"); });
  it("is slow", function (done) { this.timeout(20); });
  it("is pending");
  it.skip("is skipped", () => {});
  [1, 2].forEach((n) => it("takes " + n, () => assert.ok(n < 2)));
  describe("before", () => {
    before("connect", () => { throw new Error("no database"); });
    it("never runs", () => {});
  });
  describe("retried", () => {
    let n = 0;
    it("passes in the end", function () { this.retries(2); if (n++ < 1) throw new Error("not yet"); });
  });
});
it("at the top", () => {});
X
cat > green.js <<'X'
it("at the top", () => {});
X
echo 'it("x", () => {' > syntax.js
echo 'it("dies", () => process.exit(3));' > exit.js
npx mocha --reporter json all.js 2>/dev/null | scrub > "$out/failing.json" || true
npx mocha --reporter json green.js 2>/dev/null | scrub > "$out/green.json" || true
npx mocha --reporter json-stream all.js 2>/dev/null | scrub > "$out/stream.jsonl" || true
npx mocha --reporter json-stream green.js 2>/dev/null | scrub > "$out/stream_green.jsonl" || true
npx mocha --reporter json-stream green.js exit.js 2>/dev/null | scrub > "$out/stream_exit.jsonl" || true
{ echo; echo "> sample@1.0.0 test"; echo "> mocha --reporter json all.js"; echo; npx mocha --reporter json all.js 2>/dev/null | scrub; echo "npm error Lifecycle script \`test\` failed with error:"; echo "npm error code 8"; } > "$out/noise.txt" || true
rm -rf "$dir"
