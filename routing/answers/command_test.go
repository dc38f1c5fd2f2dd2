package answers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

func TestCommands(t *testing.T) {
	reset := []Command{{Name: "reset", Action: routing.HumanReset}}
	cases := []struct {
		name, body string
		want       []Command
	}{
		{"a line of its own", "thanks\n/switchback resume\nbye", []Command{{Name: "resume", Action: routing.HumanResume}}},
		{"any case, CRLF", "/Switchback RESET\r\n", reset},
		{"turns", "/switchback retry 2", []Command{{Name: "retry", Action: routing.HumanExtend, N: 2}}},
		{"one turn unless it says more", "/switchback retry", []Command{{Name: "retry", Action: routing.HumanExtend, N: 1}}},
		{"turns and a checkpoint with blanks", "/switchback extend 2 unit tests", []Command{{Name: "retry", Action: routing.HumanExtend, N: 2, Checkpoint: "unit tests"}}},
		{"a phase", "/switchback phase Plan unit", []Command{{Name: "phase", Action: routing.HumanPhase, Phase: routing.Plan, Checkpoint: "unit"}}},
		{"rerun", "/switchback rerun", []Command{{Name: "rerun", Action: routing.HumanRerun}}},
		{"a test whose name holds blanks and brackets", "/switchback quarantine `calc TestAdd[a b]`", []Command{{Name: "quarantine", Action: routing.HumanQuarantine, Test: "calc TestAdd[a b]"}}},
		{"wont-fix", "/switchback wont-fix\n/switchback wontfix", []Command{{Name: "wont-fix", Action: routing.HumanWontFix}, {Name: "wont-fix", Action: routing.HumanWontFix}}},
		{"a class, as people write it", "/switchback wrong env-issue unit", []Command{{Name: "wrong", Action: routing.HumanWrong, Class: routing.EnvIssue, Checkpoint: "unit"}}},
		{"questions", "/switchback status\n/switchback help", []Command{{Name: Status}, {Name: Help}}},
		{"not in the middle of a line", "please do not write /switchback reset here", nil},
		{"not in a quote", "> /switchback reset", nil},
		{"not in fenced code", "```\n/switchback reset\n```\n/switchback pause", []Command{{Name: "pause", Action: routing.HumanPause}}},
		{"three backticks around code on a line are no fence", "```go test``` fails\n/switchback reset", reset},
		{"a shorter fence does not close", "````\n```\n/switchback reset\n````\n", nil},
		{"tildes are not closed by backticks", "~~~\n```\n/switchback reset\n~~~\n", nil},
		{"not in indented code", "    /switchback reset\n\t/switchback reset", nil},
		{"not in preformatted HTML", "<pre>\n/switchback skip\n</pre>\n/switchback reset", reset},
		{"not in a hidden comment", "<!--\n/switchback reset\n-->\n/switchback skip", []Command{{Name: "skip", Action: routing.HumanSkip}}},
		{"behind code that shows how a comment begins", "the marker `<!--` is odd\n\n/switchback reset", reset},
		{"behind a comment that its paragraph does not end, which is text", "it begins with <!-- and\nno more\n\n/switchback reset", reset},
		{"not in a comment that begins within a line", "see <!-- this\n/switchback reset\n-->", nil},
		{"behind a line that begins like preformatted HTML", "<prefix> is wrong, <codebase> too\n<codebase>\n/switchback reset", reset},
		{"not in code that begins in a list", "- ```\n  /switchback skip\n  ```\n1. ```sh\n   /switchback skip\n   ```\n\n/switchback reset", reset},
		{"with what copying from a page leaves", "\u200b/switchback reset\u200b\n\ufeff/switchback\u00a0skip", []Command{{Name: "reset", Action: routing.HumanReset}, {Name: "skip", Action: routing.HumanSkip}}},
		{"not a longer word", "/switchbackreset\n/switchback2 reset", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Commands(c.body)
			if len(got) != len(c.want) {
				t.Fatalf("got %+v", got)
			}
			for i := range got {
				got[i].Line = ""
				if got[i] != c.want[i] {
					t.Errorf("got %+v, want %+v", got[i], c.want[i])
				}
			}
		})
	}
}

func TestMisread(t *testing.T) {
	for _, c := range []struct{ line, what, nearest string }{
		{"", "command", "help"},
		{"rety 3", "unknown", "retry"},
		{"reseet", "unknown", "reset"},
		{"resmue", "unknown", "resume"},
		{"quarantaine x", "unknown", "quarantine"},
		{"wont_fix", "unknown", "wont-fix"},
		{"stauts", "unknown", "status"},
		{"retry 0", "attempts", "retry 1"},
		{"extend 99", "attempts", "retry 10"},
		{"phase", "phase", "phase plan"},
		{"phase reserch", "phase", "phase research"},
		{"quarantine", "test", "quarantine TEST"},
		{"wrong", "class", "wrong LOGIC_ERROR"},
		{"wrong logic", "class", "wrong LOGIC_ERROR"},
		{"wrong flaky", "class", "quarantine TEST"},
		{"wrong unknown", "class", "wrong TIMEOUT"},
	} {
		got := Commands(Prefix + " " + c.line)
		if len(got) != 1 || got[0].Err == nil {
			t.Errorf("%q: %+v", c.line, got)
			continue
		}
		if e := got[0].Err; string(e.What) != c.what || e.Nearest != Prefix+" "+c.nearest || !strings.Contains(e.Error(), c.nearest) {
			t.Errorf("%q: %v (%s)", c.line, e, e.What)
		}
	}
}

// Every command with what follows it, as help lists it, is understood.
func TestUsagesAreUnderstood(t *testing.T) {
	for _, spec := range Table() {
		u := spec.Usage()
		for _, one := range strings.Split(strings.NewReplacer("[n]", "2", "CLASS", "TIMEOUT").Replace(u), "|") {
			if !strings.Contains(u, strings.Fields(one)[0]+" ") && strings.Contains(u, "|") {
				one = strings.Fields(u)[0] + " " + one
			}
			if got := Commands(Prefix + " " + one); len(got) != 1 || got[0].Err != nil || got[0].Name != spec.Name {
				t.Errorf("%s: %+v", one, got)
			}
		}
	}
}

func FuzzCommands(f *testing.F) {
	f.Add("/switchback reset\n```\n> /switchback")
	f.Add("/switchback quarantine `a`\n/switchback phase x\n<pre>\n/switchback wrong")
	f.Fuzz(func(t *testing.T, body string) {
		got := Commands(body)
		if len(got) > MostCommands {
			t.Errorf("%d commands", len(got))
		}
		for _, c := range got {
			if c.Err != nil && (c.Err.Nearest == "" || c.Err.Error() == "") {
				t.Errorf("%+v", c)
			}
			if _, known := Lookup(c.Name); known == (c.Name == "") || c.Err == nil && !known {
				t.Errorf("%q is in the table: %v", c.Name, known)
			}
			if !strings.Contains(body, c.Line) {
				t.Errorf("the line %q is not in the comment", c.Line)
			}
		}
		quoted := "> " + strings.ReplaceAll(body, "\n", "\n> ")
		if got := Commands(quoted); len(got) != 0 {
			t.Errorf("of a quote: %+v", got)
		}
	})
}

func ExampleCommands() {
	for _, c := range Commands("Looks like the network.\n\n/switchback rerun\n/switchback rety\n") {
		fmt.Println(c.Action, c.Err)
	}
	// Output:
	// rerun <nil>
	//  "rety" is not a command; the nearest command is "/switchback retry"
}

func TestCountLast(t *testing.T) {
	for line, want := range map[string]string{
		"/switchback retry unit 2":       "unit 2",
		"/switchback retry unit tests 3": "unit tests 3",
		"/switchback retry unit":         "",
		"/switchback retry 2 unit":       "",
		"/switchback retry unit 0":       "",
		"/switchback retry unit 11":      "",
		"/switchback skip unit 2":        "",
	} {
		c, ok := Commands(line)[0].CountLast()
		if got := fmt.Sprintf("%s %d", c.Checkpoint, c.N); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", line, got, ok)
		}
	}
}

// A quote's paragraph goes on in the lines below it, as GitHub shows it.
func TestQuoteGoesOn(t *testing.T) {
	for body, want := range map[string]int{
		"> they said\n/switchback resume":               0,
		"> they said\nand more\n/switchback resume":     0,
		"> they said\n\n/switchback resume":             1,
		">\n/switchback resume":                         1,
		"> they said\n- a list\n\n/switchback resume":   1,
		"> they said\n```\ncode\n```\n/switchback skip": 1,
		"> they said\n# Mine\n/switchback resume":       1,
		"words\n/switchback resume":                     1,
	} {
		if got := len(Commands(body)); got != want {
			t.Errorf("%q holds %d commands, want %d", body, got, want)
		}
	}
}
