#!/usr/bin/env bash
# Makes the pictures of the documentation from the demo's own posts, so that
# they stay true. Needs Go, npm and Chromium.
set -euo pipefail
cd "$(dirname "$0")/../.."
tmp="$(mktemp -d)"
trap 'rm -rf "$tmp"' EXIT
npm install --silent --no-save --prefix "$tmp" github-markdown-css@5.8.1
style="$tmp/node_modules/github-markdown-css/github-markdown-light.css"
go run ./cmd/switchback demo --quiet --write "$tmp/posts" > /dev/null
shot() { # name, post, height
  go run docs/pictures/render.go "$style" "$tmp/posts/$2" "$tmp/$1.html"
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking \
    --user-data-dir="$tmp/profile" --window-size="910,$3" --screenshot="docs/pictures/$1.png" "file://$tmp/$1.html" 2> /dev/null
}
mkdir -p "$tmp/reports" && echo "# Level 20" > "$tmp/reports/level20_report.md"
cat > "$tmp/result.json" << 'JSON'
{"workflow_name": "nightly", "automation_level": 20, "report_path": "reports/level20_report.md", "run_id": "8123",
 "suggestions": [{"id": "cache", "text": "Cache the Go modules between runs"}, {"id": "split", "text": "Split the integration tests into two jobs"},
  {"id": "lint", "text": "Drop the second lint step"}]}
JSON
go build -o "$tmp/switchback" ./cmd/switchback
(cd "$tmp" && ./switchback survey open --result result.json --ledger feedback.jsonl) |
  node -e 'process.stdout.write(JSON.parse(require("fs").readFileSync(0)).body)' > "$tmp/posts/prompt.md"
shot rework-comment 02-comment.md 1180
shot pass-comment 03-comment.md 420
shot escalation-issue 08-issue.md 1750
shot feedback-prompt prompt.md 700
cp bot/render/testdata/casecomment_short.md "$tmp/posts/"
shot case-comment casecomment_short.md 960

# The dashboard over a sample ledger.
go run ./internal/sample/fill -cases 300 "$tmp/ledger"
"$tmp/switchback" dashboard --ledger "$tmp/ledger" --listen 127.0.0.1:18766 > "$tmp/dashboard.log" &
dashboard=$!
trap 'kill "$dashboard" 2> /dev/null; rm -rf "$tmp"' EXIT
until curl -sf -o /dev/null http://127.0.0.1:18766/; do sleep 0.2; done
page() { # name, path, height
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking \
    --user-data-dir="$tmp/profile" --window-size="1200,$3" --screenshot="docs/pictures/$1.png" "http://127.0.0.1:18766$2" 2> /dev/null
}
case="$(curl -s 'http://127.0.0.1:18766/cases?state=escalated' | grep -o '/case/[^"]*' | head -n 1)"
page dashboard / 1500
page plan /plan/acme/shop/plan-1 780
page case "$case" 1100
page failures /failures 900
page rules /rules 900
