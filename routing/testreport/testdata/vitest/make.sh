#!/bin/sh
# Makes the *.txt files of this directory with a pinned Vitest from npm:
# "make.sh" and "make.sh 2.1.9 v2_". Run it from this directory.
set -u
version=${1:-3.2.4}
prefix=${2:-}
out=$PWD
work=/tmp/proj/vitest$prefix
mkdir -p "$work"; cd "$work" || exit 1
[ -d node_modules/vitest ] || { npm init -y >/dev/null && npm i -D "vitest@$version" "@vitest/coverage-v8@$version" >/dev/null; }
rm -rf src; mkdir src
export CI=true NO_COLOR=1 COLUMNS=80
scrub() { sed -E 's#/tmp/proj/vitest(v2_)?#/proj#g; s# [0-9]+ms# 5ms#g; s#Start at .*#Start at  12:00:00#; s#Duration .*#Duration  300ms#'; }
run() { name=$1; shift; npx vitest run "$@" 2>&1 | scrub | grep -v "^npm warn" > "$out/$prefix$name.txt"; }

cat > src/ok.test.ts <<'T'
import { describe, test, expect } from "vitest";
describe("sums", () => {
  test("adds", () => expect(1 + 1).toBe(2));
  describe("nested", () => { test("more", () => { console.log("printed by a test"); }); });
  test.skip("later", () => {});
  test.todo("written one day");
});
T
run green
run green_verbose --reporter verbose

cat > src/lib.ts <<'T'
export function boom(v: any) { return v.field.deeper; }
export function unused() { return 1; }
T
cat > src/bad.test.ts <<'T'
import { describe, test, expect, vi, beforeAll } from "vitest";
import { boom } from "./lib";
describe("values", () => {
  test("are equal", () => {
    expect(1 + 1).toBe(3);
  });
  describe("objects", () => {
    test("are equal", () => {
      expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] });
    });
    test("throws", () => { boom({}); });
  });
  test("is slow", () => new Promise(() => {}), 50);
  test("contains", () => { expect("some text").toContain("other"); });
  test("calls", () => { const f = vi.fn(); f(1); expect(f).toHaveBeenCalledWith(2); });
  test("passes", () => {});
  test.each(["a > b", "c"])("same error %s", () => { throw new Error("the same"); });
});
describe("set up", () => {
  beforeAll(() => { throw new Error("cannot set up"); });
  test("is never run", () => {});
});
T
cat > src/syntax.test.ts <<'T'
import { test } from "vitest";
test("x", () => {
  const = 1;
});
T
cat > src/missing.test.ts <<'T'
import "./none_such";
T
cat > src/none.test.ts <<'T'
// no test in here
T
run failing
run failing_verbose --reporter verbose
run failing_github --reporter default --reporter github-actions src/bad.test.ts

cat > src/retry.test.ts <<'T'
import { test, expect } from "vitest";
let n = 0;
test("second time", { retry: 2 }, () => { n++; expect(n).toBeGreaterThan(1); });
test("never", { retry: 2 }, () => { expect(1).toBe(2); });
T
run retry src/retry.test.ts
run retry_verbose src/retry.test.ts --reporter verbose

cat > src/unhandled.test.ts <<'T'
import { test } from "vitest";
test("passes", () => { Promise.reject(new Error("nobody waits")); });
T
run unhandled src/unhandled.test.ts
cat > src/cov.test.ts <<'T'
import { test, expect } from "vitest";
import { boom } from "./lib";
test("passes", () => { expect(boom({ field: { deeper: 1 } })).toBe(1); });
T
run coverage src/cov.test.ts --coverage --coverage.include src/lib.ts --coverage.thresholds.functions 80
run no_tests none_such_at_all
cat > src/exit.test.ts <<'T'
import { test } from "vitest";
test("exits", () => { process.exit(3); });
T
run exit src/exit.test.ts
cat > src/crash.test.ts <<'T'
import { test } from "vitest";
test("aborts", () => { process.abort(); });
T
run crash src/crash.test.ts src/ok.test.ts --pool forks
