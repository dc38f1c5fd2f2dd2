package e2e

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// fixScript is a port that another asks to fix its work. It then asks that one
// back, which waits for it, and hands its work on as a push would.
const fixScript = `echo 3 > m.txt
if [ -n "$SWITCHBACK_FEEDBACK" ]; then
  grep -q 'write m-fixed' "$SWITCHBACK_FEEDBACK" || exit 1
  "$SWITCHBACK_BIN" feedback send --to n --type FIX_REQUEST --message "it is you" --fix "fix it" 2> refused && exit 1
  grep -q 'Feedback cycle detected: n → m → n' refused || exit 1
  cd "$ORIGIN" && touch m-fixed && git add m-fixed && git -c user.name=m -c user.email=m@example.com commit -q -m fixed
fi
`

// findScript is the port that finds m to be wrong.
const findScript = `if [ -f m-fixed ]; then echo 3 > n.txt; exit 0; fi
"$SWITCHBACK_BIN" feedback send --to m --type FIX_REQUEST --message "m-fixed is missing" --fix "write m-fixed"
`

// feedback reads what the ledger holds of feedback between ports.
func (p *build) feedback(t *testing.T) []feedback.Record {
	t.Helper()
	r, err := feedback.Fold(p.stream(t, routing.StreamKey(p.r.FullName, routing.StreamFeedbackRequests)))
	if err != nil {
		t.Fatal(err)
	}
	return r.Records
}

// stream reads a stream of the ledger.
func (p *build) stream(t *testing.T, key string) []routing.Event {
	t.Helper()
	text := ""
	for name, data := range p.r.Tree(t, "switchback-ledger") {
		if strings.HasSuffix(name, "/"+ledger.FileName(key)) {
			text = data
		}
	}
	events, err := ledger.Decode(key, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return events
}
