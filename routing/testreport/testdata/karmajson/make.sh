#!/bin/sh
# Makes the file beside it with karma in jsdom; set MODULES to a node_modules
# with karma, karma-jasmine, karma-json-reporter, karma-jsdom-launcher and jsdom
# in it to spare the installation.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
echo '{"name":"sample","version":"1.0.0"}' > package.json
if [ -n "${MODULES:-}" ]; then ln -s "$MODULES" node_modules; else npm install --silent karma karma-jasmine jasmine-core karma-json-reporter karma-jsdom-launcher jsdom; fi
scrub() { sed -e "s#$dir#/project#g" -e "s#$(readlink -f "${MODULES:-$dir/node_modules}")#/project/node_modules#g"; }
cat > a.js <<'X'
describe("sum", () => {
  it("adds", () => expect(1 + 2).toBe(3));
  it("fails", () => { expect(1 + 2).toBe(4); expect(1).toBe(2); });
  it("throws", () => { throw new TypeError("no such thing"); });
  xit("is skipped", () => {});
  it("is pending");
  describe("deeper", () => it("is fine", () => expect(1).toBe(1)));
});
X
cat > karma.conf.js <<'X'
module.exports = (c) => c.set({ frameworks: ["jasmine"], browsers: ["jsdom"], files: [process.env.FILE], reporters: ["json"], jsonReporter: { stdout: true, outputFile: process.env.OUT }, singleRun: true });
X
FILE=a.js OUT=r.json npx karma start > out.txt 2>/dev/null || true
scrub < out.txt > "$out/failing.json"
echo 'it("x", () => {' > b.js
FILE=b.js OUT=r2.json npx karma start >/dev/null 2>&1 || true
scrub < r2.json > "$out/syntax.json"
rm -rf "$dir"
