#!/bin/sh
# Makes the file beside it with mochawesome; set MODULES to a node_modules with
# mocha and mochawesome in it to spare the installation.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
echo '{"name":"sample","version":"1.0.0"}' > package.json
if [ -n "${MODULES:-}" ]; then ln -s "$MODULES" node_modules; else npm install --silent mocha mochawesome; fi
scrub() { sed -e "s#$dir#/project#g" -e "s#$(readlink -f "${MODULES:-$dir/node_modules}")#/project/node_modules#g"; }
sed -n "/^cat > all.js/,/^X/p" "$out/../mochajson/make.sh" | sed '1d;$d' > all.js
npx mocha --reporter mochawesome --reporter-options html=false,reportFilename=r,quiet=true all.js >/dev/null 2>&1 || true
scrub < mochawesome-report/r.json > "$out/failing.json"
rm -rf "$dir"
