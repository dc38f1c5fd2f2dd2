#!/bin/sh
# Fails if a function of the module is called by none of its programs. A function that only tests
# call counts as dead, except where this script lists it with a reason.
#
#   scripts/deadcode.sh bin/deadcode
set -eu

# Each line: a regular expression on "FILE: FUNCTION", and after # the reason.
allowed=$(sed 's/ *#.*//; /^$/d' <<'LIST'
^bot/database/pgtest/                       # test support: a PostgreSQL server for tests
^internal/browser/                          # test support: a browser for tests
^routing/testreport/testreport\.go:         # the public API of a library
^routing/testreport/internal/reader/read\.go: Parse$   # the body of the library's Parse
^routing/testreport/internal/reader/log\.go: ReadLog$  # the tests of every format read one console alone
^bot/ledger/(memory|states)\.go: Memory\.   # the ledger that tests of other packages use
^bot/handler/commands\.go: HandlesCommand$  # cmd/switchback tests that every command has a handler
^bot/render/ask\.go: BoxHelp$               # cmd/switchback compares it with docs/answers.md
^routing/escalation/sentence\.go: SentenceIDs$            # the catalogues are compared with it
^routing/escalation/sentence\.go: Sentence\.MarshalJSON$  # the JSON form of an escalation report
LIST
)

found=$("$1" -f '{{range .Funcs}}{{.Position.File}}: {{.Name}}{{println}}{{end}}' ./cmd/... ./internal/...)
dead=$(echo "$found" | sed '/^$/d' | grep -vE "$allowed" || true)
if [ -n "$dead" ]; then
	echo "no program calls:"
	echo "$dead"
	exit 1
fi
