package prompt

import (
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

func TestCommands(t *testing.T) {
	cases := []struct {
		name, body string
		want       []Command
	}{
		{"a line of its own", "thanks\n/switchback resume\nbye", []Command{{Action: routing.HumanResume, N: 1}}},
		{"any case, CRLF", "/Switchback RESET\r\n", []Command{{Action: routing.HumanReset, N: 1}}},
		{"turns and a checkpoint with blanks", "/switchback extend 2 unit tests", []Command{{Action: routing.HumanExtend, N: 2, Checkpoint: "unit tests"}}},
		{"not in the middle of a line", "please do not write /switchback reset here", nil},
		{"not in a quote", "> /switchback reset", nil},
		{"not in fenced code", "```\n/switchback reset\n```\n/switchback pause", []Command{{Action: routing.HumanPause, N: 1}}},
		{"a shorter fence does not close", "````\n```\n/switchback reset\n````\n", nil},
		{"not in indented code", "    /switchback reset\n\t/switchback reset", nil},
		{"not in a hidden comment", "<!--\n/switchback reset\n-->\n/switchback skip", []Command{{Action: routing.HumanSkip, N: 1}}},
		{"not a longer word", "/switchbackreset\n/switchback2 reset", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Commands(c.body)
			if len(got) != len(c.want) {
				t.Fatalf("got %+v", got)
			}
			for i := range got {
				if got[i].Action != c.want[i].Action || got[i].N != c.want[i].N || got[i].Checkpoint != c.want[i].Checkpoint || got[i].Err != nil {
					t.Errorf("got %+v, want %+v", got[i], c.want[i])
				}
			}
		})
	}
	for _, bad := range []string{"/switchback", "/switchback dance", "/switchback extend 0", "/switchback extend 99"} {
		if got := Commands(bad); len(got) != 1 || got[0].Err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}

func FuzzCommands(f *testing.F) {
	f.Add("/switchback reset\n```\n> /switchback")
	f.Fuzz(func(t *testing.T, body string) {
		if n := len(Commands(body)); n > 10 {
			t.Errorf("%d commands", n)
		}
	})
}
