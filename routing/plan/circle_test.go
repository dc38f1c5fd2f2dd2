package plan

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// A plan with a circle is refused before it is built, but what a branch says of one may
// have it: it is drawn without the circle.
func TestGraphOfACircle(t *testing.T) {
	t.Parallel()
	g := GraphOf(map[string]feedback.Links{"root": {}, "a": {DependsOn: []string{"root", "b"}}, "b": {DependsOn: []string{"a"}}, "behind": {DependsOn: []string{"b"}},
		"top": {DependsOn: []string{"root"}}, "self": {DependsOn: []string{"self"}}, "lost": {DependsOn: []string{"nowhere"}}})
	if got := g.Order(); !slices.Contains(got, "root") || !slices.Contains(got, "top") || slices.Contains(got, "a") || slices.Contains(got, "b") || slices.Contains(got, "behind") {
		t.Errorf("order %v", got)
	}
	if got := fmt.Sprint(g.DependsOn("lost"), g.DependsOn("self"), g.Level("lost"), g.Level("a"), g.Level("none"), g.Levels()); got != "[] [] 0 -1 -1 [[lost root self] [top]]" {
		t.Errorf("%s", got)
	}
	if g := GraphOf(map[string]feedback.Links{"a": {}, "b": {DependsOn: []string{"a", "a"}}}); g.Edges() != 1 {
		t.Errorf("an edge that is written twice is %d", g.Edges())
	}
	if got := NewSchedule(g, map[string]time.Duration{}).CriticalPath(); !slices.Equal(got.Ports, []string{"root", "top"}) {
		t.Errorf("critical path %+v", got)
	}
}
