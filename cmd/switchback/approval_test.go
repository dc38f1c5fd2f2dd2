package main

import (
	"strings"
	"testing"
)

func TestRouteAwaitsApprovalS5_95(t *testing.T) {
	t.Parallel()
	led := t.TempDir()
	a, _ := route(t, led, "--run", "1", "--sha", sha(1), "--conclusion", "action_required")
	if a.Decision != "NONE" || a.Rule != "waits-for-approval" || a.kinds() != "check" {
		t.Fatalf("S5-95: %s (%s), effects %s: %s", a.Decision, a.Rule, a.kinds(), a.Reason)
	}
	if title := a.Effects[0].Title; !strings.Contains(title, "waits for a maintainer's approval") {
		t.Errorf("S5-95: the check says %q", title)
	}
	a, _ = route(t, led, "--run", "1", "--sha", sha(1), "--conclusion", "success", testsuite(t, "total", "list"))
	if a.Decision != "PASS" || a.Repeated {
		t.Errorf("S5-95: the run that was approved is %s (%s)", a.Decision, a.Rule)
	}
}
