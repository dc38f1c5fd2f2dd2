#!/bin/sh
# Makes the *.txt files of this directory with a pinned Jest from npm.
# Run it from this directory.
set -u
version=29.7.0
out=$PWD
work=/tmp/proj/jest
mkdir -p "$work"; cd "$work" || exit 1
[ -d node_modules/jest ] || { npm init -y >/dev/null && npm i -D "jest@$version" >/dev/null; }
rm -rf src; mkdir src
export CI=true NO_COLOR=1 COLUMNS=80
scrub() { sed -E 's#/tmp/proj/jest#/proj#g; s#\(([0-9.]+) m?s\)#(5 ms)#; s#^Time: .*#Time:        0.5 s#'; }
run() { name=$1; shift; npx jest "$@" 2>&1 | scrub | grep -v "^npm warn" > "$out/$name.txt"; }

cat > src/ok.test.js <<'T'
describe("sums", () => {
  test("adds", () => expect(1 + 1).toBe(2));
  describe("nested", () => {
    it("adds › more", () => { console.log("printed by a test"); expect(2).toBe(2); });
  });
  test.skip("later", () => {});
  test.todo("written one day");
});
T
cat > src/more.test.js <<'T'
test("top level", () => {});
T
run green
run green_verbose --verbose

cat > src/lib.js <<'T'
exports.boom = () => { null.field; };
T
cat > src/bad.test.js <<'T'
const { boom } = require("./lib");
describe("values", () => {
  test("are equal", () => {
    expect(1 + 1).toBe(3);
  });
  describe("objects", () => {
    test("are equal", () => {
      expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] });
    });
    test("throws", () => boom());
  });
  test("is slow", () => new Promise(() => {}), 50);
  test("contains", () => expect("some text").toContain("other"));
  test("calls", () => { const f = jest.fn(); f(1); expect(f).toHaveBeenCalledWith(2); });
  test("passes", () => {});
  test("rejects", async () => { throw new TypeError("no such thing"); });
  test.skip("skipped", () => {});
});
test("snapshot", () => expect({ a: 1 }).toMatchInlineSnapshot(`"other"`));
describe("set up", () => {
  beforeAll(() => { throw new Error("cannot set up"); });
  test("is never run", () => {});
});
describe("twice", () => {
  test("same name", () => expect(1).toBe(2));
  test("same name", () => expect(1).toBe(3));
});
T
cat > src/syntax.test.js <<'T'
test("x", () => {
  const = 1;
});
T
cat > src/missing.test.js <<'T'
require("./none_such");
test("x", () => {});
T
cat > src/none.test.js <<'T'
// no test in here
T
run failing
run failing_verbose --verbose

for i in $(seq 1 21); do printf 'test("ok %d", () => {});\n' "$i" > "src/many$i.test.js"; done
run many --testPathIgnorePatterns syntax missing none
rm src/many*.js

cat > src/retry.test.js <<'T'
jest.retryTimes(2, { logErrorsBeforeRetry: true });
let n = 0;
test("second time", () => { n++; expect(n).toBeGreaterThan(1); });
test("never", () => expect(1).toBe(2));
T
run retry src/retry.test.js
run retry_verbose src/retry.test.js --verbose
rm src/retry.test.js

run coverage src/ok.test.js src/more.test.js --coverage --collectCoverageFrom 'src/lib.js' --coverageThreshold '{"global":{"lines":80,"functions":80}}'
run no_tests none_such_at_all
cat > src/exit.test.js <<'T'
test("exits", () => process.exit(3));
T
run exit src/exit.test.js
cat > src/crash.test.js <<'T'
test("aborts", () => process.abort());
T
run crash_worker src/crash.test.js src/ok.test.js -w 2
run config --testEnvironment none_such
