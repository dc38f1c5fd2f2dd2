package action

import "github.com/switchback-ci/switchback/bot/effect"

// effects carries out what is decided about the subject of t.
func (f *face) effects(t trigger) *effect.GitHub {
	return &effect.GitHub{
		Hub: f.hub, Repo: f.repo, Subject: t.subject, Config: f.config, Render: f.renderOptions(t), Sleep: sleep,
		Ledger: f.led, Now: f.now, Log: f.log, Owner: f.process, FileTTL: f.claimTTL(),
	}
}
