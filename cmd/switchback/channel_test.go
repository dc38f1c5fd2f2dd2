//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

func TestChannelCommands(t *testing.T) {
	t.Parallel()
	// The variable starts the program in the test's own binary.
	speak := "SWITCHBACK_RUN_MAIN=1; export SWITCHBACK_RUN_MAIN\n"
	t.Run("S2-14 S2-17 impl asks, test receives what it was sent, once", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, speak+`"$SWITCHBACK_BIN" channel send --type query --payload '{"text":"which greeting?"}' > sent
"$SWITCHBACK_BIN" channel progress --progress 0.5 --task writing > /dev/null
"$SWITCHBACK_BIN" channel send --type gossip 2> refused || echo exit $? >> refused
echo hello > hello.txt
`, speak+`"$SWITCHBACK_BIN" channel receive > received; "$SWITCHBACK_BIN" channel receive > again; `+greetTest, "")
		if r, code, c := runIn(t, dir, nil, "port", "run", "greet"); code != 0 {
			t.Fatalf("exit %d %+v\n%s", code, r, &c.stderr)
		}
		var got []plan.Message
		decode(t, readIn(t, dir, "received"), &got)
		if len(got) != 2 || got[0].Type != plan.QueryMessage || !strings.Contains(string(got[0].Payload), "which greeting?") || got[1].Type != plan.ResultMessage || got[0].DeliveredAt.IsZero() {
			t.Errorf("%+v", got)
		}
		if again := strings.TrimSpace(readIn(t, dir, "again")); again != "[]" {
			t.Error(again)
		}
		if refused := readIn(t, dir, "refused"); !strings.Contains(refused, "known are result, feedback, query") || !strings.Contains(refused, "exit 1") {
			t.Error(refused)
		}
	})
	t.Run("S2-15 a worker that is blocked escalates", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, speak+`"$SWITCHBACK_BIN" channel escalate --type blocked --severity high --text "no key for the API"; sleep 1000`+"\n", greetTest, "")
		r, code, c := runIn(t, dir, nil, "port", "run", "--grace", "100ms", "greet")
		if code != 1 || r.Status != plan.Raised || r.Call == nil || r.Call.Type != "blocked" || r.Call.Severity != "high" || !strings.Contains(r.Reason, "no key") {
			t.Errorf("exit %d %+v\n%s", code, r, &c.stderr)
		}
	})
	t.Run("S2-16 S2-18 outside of a run, by the ledger", func(t *testing.T) {
		t.Parallel()
		dir := portDir(t, "echo hello > hello.txt", greetTest, "")
		if _, code, _ := runIn(t, dir, nil, "port", "run", "greet"); code != 0 {
			t.Fatal(code)
		}
		for args, want := range map[string]string{
			"send --port greet --channel none --session x":                                  "no such channel",
			"send --port greet --channel ports/greet/channel --session ports/greet/impl":    "the channel is closed",
			"receive --port greet --channel ports/greet/channel --session ports/greet/impl": "the channel is closed",
			"send --session x": "--port is missing",
		} {
			_, code, c := runIn(t, dir, nil, append([]string{"channel"}, strings.Fields(args)...)...)
			if code == 0 || !strings.Contains(c.stderr.String(), want) {
				t.Errorf("%s: exit %d %s", args, code, &c.stderr)
			}
		}
	})
}
