package plans

import (
	"github.com/switchback-ci/switchback/routing/plan"
)

// schedule says which ports run next.
type schedule struct {
	plan     plan.Plan
	settings plan.Settings
	hashes   map[string]string // of the contents of the ports
	shard    int               // jobs of a round, plan.ShardSize if 0
}

// board returns the status of every port.
func (s schedule) board(r plan.BuildState) plan.Board { return s.plan.Board(s.settings, r, s.hashes) }

// round returns the ports that are ready, no more than a round may have.
func (s schedule) round(r plan.BuildState, level int) Round {
	shard := s.shard
	if shard <= 0 {
		shard = plan.ShardSize
	}
	m := s.plan.Round(s.settings, r, s.hashes, level, shard)
	m.Empty = len(m.Matrix.Include) == 0
	return Round{Matrix: m, Build: r.Build.ID, Feedback: r.Build.Feedback, Level: level, More: !m.Empty, Board: s.board(r)}
}
