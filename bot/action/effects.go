package action

import (
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// effects carries out what is decided about the subject of t.
func (f *face) effects(t trigger) *effect.GitHub {
	o := f.renderOptions(t)
	return &effect.GitHub{
		Hub: f.hub, Repo: f.repo, Subject: t.subject, Config: f.config, Render: o, Sleep: f.delay,
		Ledger: f.led, Now: f.now, Log: f.log, Owner: f.process, FileTTL: f.claimTTL(),
		Prompt: func(rec escalation.Record, host routing.Case, live string) string {
			return render.PromptSection(rec, host, live, o)
		},
	}
}
