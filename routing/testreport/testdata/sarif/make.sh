#!/bin/sh
# Makes eslint.json with ESLint's formatter for SARIF; set MODULES to a
# node_modules with eslint and @microsoft/eslint-formatter-sarif in it to spare
# the installation. suppressed.json is written by hand from the specification of
# SARIF 2.1.0 (levels by rule, suppressions, kinds, artifacts, invocations).
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
echo '{"name":"sample","version":"1.0.0"}' > package.json
if [ -n "${MODULES:-}" ]; then ln -s "$MODULES" node_modules; else npm install --silent eslint @microsoft/eslint-formatter-sarif; fi
scrub() { sed -e "s#$dir#/project#g" -e "s#$(readlink -f "${MODULES:-$dir/node_modules}")#/project/node_modules#g"; }
cat > a.js <<'X'
var a = 1;
// eslint-disable-next-line no-undef
alert(b);
c();
if (a == 2) { debugger; }
X
echo 'function (' > b.js
echo 'export default [{ rules: { "no-undef": "error", "eqeqeq": "warn", "no-debugger": "error" } }];' > eslint.config.mjs
npx eslint -f @microsoft/eslint-formatter-sarif . 2>/dev/null | scrub > "$out/eslint.json" || true
rm -rf "$dir"
