package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFeedback(t *testing.T) {
	t.Parallel()
	t.Run("S1-41 an answer is waited for 72 hours unless said otherwise", func(t *testing.T) {
		if w := (File{}).Feedback.Wait(); w != 72*time.Hour {
			t.Error(w)
		}
		f, _ := full(t)
		if fb := f.Feedback; fb.Wait() != 48*time.Hour || fb.Role() != "maintain" || !fb.Reenters() || fb.Workflow != "optimize.yml" || !slices.Equal(fb.After, []string{"Nightly"}) {
			t.Errorf("%+v", fb)
		}
		if fb := (File{}).Feedback; fb.Role() != "write" || fb.Reenters() {
			t.Errorf("%+v", fb)
		}
	})
	for _, c := range []struct{ name, yaml, want string }{
		{"S0-56 a time to wait that is too short", "feedback: {timeout: 5s}\n", `1: "5s" is no time to wait; write a minute to 90 days`},
		{"S0-56 a time to wait that is too long", "feedback: {timeout: 2161h}\n", `1: "2161h" is no time to wait`},
		{"S0-56 a time to wait without unit", "feedback: {timeout: 72}\n", `1: "72" is no time to wait`},
		{"S0-56 a time to wait as a list", "feedback: {timeout: [72h]}\n", "1: a list or mapping is not a duration; write e.g. 72h"},
		{"S0-56 a permission that there is not", "feedback:\n  permission: owner\n", `2: permission is "owner"; it must be one of triage, write, maintain, admin`},
		{"S0-56 two ways to begin", "feedback:\n  workflow: a.yml\n  repository_dispatch: b\n", "1: name workflow or repository_dispatch, not both"},
		{"S0-56 a ref without workflow", "feedback:\n  ref: main\n", "2: ref goes with workflow only"},
		{"S0-56 a workflow with its folder", "feedback:\n  workflow: .github/workflows/a.yml\n", "2: workflow \".github/workflows/a.yml\"; give the file name alone"},
		{"S0-56 an unknown key", "feedback:\n  timeuot: 72h\n", `2: unknown key "timeuot"; did you mean "timeout"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("sb.yml", []byte(c.yaml))
			if err == nil || !strings.HasPrefix(err.Error(), "sb.yml:") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
