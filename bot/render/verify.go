package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// PacketHead names the run that a packet is about.
type PacketHead struct {
	Switchback int    `json:"switchback"`
	Case       string `json:"case"`
	Checkpoint string `json:"checkpoint"`
	SHA        string `json:"sha"`
	Run        struct {
		ID      string `json:"id"`
		Attempt int    `json:"attempt"`
	} `json:"run"`
}

var packetFence = regexp.MustCompile("(?m)^(`{3,})json[ \t]*$")

// VerifyPacket returns the packet of a comment and what it is about, or an error that says why the
// comment is not what Switchback posts about a case: its marker has to be of the packet's case and
// checkpoint. Whoever wrote the comment is for the caller to check.
func VerifyPacket(body string) ([]byte, PacketHead, error) {
	var p PacketHead
	body = strings.ReplaceAll(body, "\r\n", "\n")
	m, ok := marker.Parse(body)
	if !ok {
		return nil, p, errors.New("the comment does not end in a marker of Switchback")
	}
	all := packetFence.FindAllStringSubmatchIndex(body, -1)
	if len(all) == 0 {
		return nil, p, errors.New("the comment has no block of JSON")
	}
	last := all[len(all)-1]
	text, _, closed := strings.Cut(body[last[1]:], "\n"+body[last[2]:last[3]]+"\n")
	if !closed {
		return nil, p, errors.New("the comment's last block of JSON is open")
	}
	text = strings.TrimSpace(text)
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return nil, p, fmt.Errorf("the comment's last block is no JSON: %w", err)
	}
	switch {
	case p.Switchback != PacketVersion:
		return nil, p, fmt.Errorf("the JSON is no packet of version %d", PacketVersion)
	case m.Key != CommentKey(p.Case, p.Checkpoint):
		return nil, p, fmt.Errorf("the marker is of %q, and the packet of %q", m.Key, CommentKey(p.Case, p.Checkpoint))
	}
	return []byte(text), p, nil
}

// Recorded returns an error unless the newest iteration of a case is about the packet's run.
func (p PacketHead) Recorded(c routing.Case) error {
	story := c.Checkpoints[p.Checkpoint].Story()
	if len(story) == 0 {
		return fmt.Errorf("the ledger holds no run of checkpoint %q of %s", p.Checkpoint, p.Case)
	}
	run := story[len(story)-1].Verdict.Run
	if run.ID != p.Run.ID || max(run.Attempt, 1) != p.Run.Attempt || run.SHA != p.SHA {
		return fmt.Errorf("the packet is of run %s/%d, commit %s; the ledger's newest is run %s/%d, commit %s", p.Run.ID, p.Run.Attempt, p.SHA, run.ID, max(run.Attempt, 1), run.SHA)
	}
	return nil
}
