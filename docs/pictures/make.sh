#!/usr/bin/env bash
# Makes the pictures of the documentation from the program's own posts and
# pages, so that they stay true. Needs what `make test` needs, and a font with
# emoji, which it installs on Debian: without one each is an empty box.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! fc-list : family | grep -qi emoji; then
  apt-get update -qq && apt-get install -y -qq --no-install-recommends fontconfig fonts-noto-color-emoji
fi
tmp="$(mktemp -d)"
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/switchback" ./cmd/switchback
"$tmp/switchback" demo --quiet --write "$tmp/posts" > /dev/null
mkdir -p "$tmp/reports" && echo "# Level 20" > "$tmp/reports/level20_report.md"
cat > "$tmp/result.json" << 'JSON'
{"workflow_name": "nightly", "automation_level": 20, "report_path": "reports/level20_report.md", "run_id": "8123",
 "suggestions": [{"id": "cache", "text": "Cache the Go modules between runs"}, {"id": "split", "text": "Split the integration tests into two jobs"},
  {"id": "lint", "text": "Drop the second lint step"}]}
JSON
(cd "$tmp" && ./switchback survey open --result result.json --ledger feedback.jsonl) |
  node -e 'process.stdout.write(JSON.parse(require("fs").readFileSync(0)).body)' > "$tmp/posts/prompt.md"
cp bot/render/testdata/casecomment_short.md "$tmp/posts/"

# The dashboard over a sample ledger.
go run ./internal/sample/fill -cases 300 "$tmp/ledger"
"$tmp/switchback" dashboard --ledger "$tmp/ledger" --listen 127.0.0.1:18766 > "$tmp/dashboard.log" &
dashboard=$!
trap 'kill "$dashboard" 2> /dev/null; rm -rf "$tmp"' EXIT
at=http://127.0.0.1:18766
until curl -sf -o /dev/null "$at/"; do sleep 0.2; done
case="$(curl -s "$at/cases?state=escalated" | grep -o '/case/[^"]*' | head -n 1)"
posts="$tmp/posts"
go run ./internal/pictures docs/pictures \
  rework-comment="$posts/02-comment.md" pass-comment="$posts/03-comment.md" escalation-issue="$posts/08-issue.md" \
  feedback-prompt="$posts/prompt.md" case-comment="$posts/casecomment_short.md" \
  dashboard@1500="$at/" plan@780="$at/plan/acme/shop/plan-1" case@1100="$at$case" failures@900="$at/failures" rules@900="$at/rules"

# TestPicturesAreOfThesePosts compares what the program posts today with these.
(cd "$posts" && sha256sum 02-comment.md 03-comment.md 08-issue.md casecomment_short.md) > docs/pictures/posts.sha256
