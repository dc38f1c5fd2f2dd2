package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
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

// VerifiedPacket is a packet of a comment, and what it is about.
type VerifiedPacket struct {
	PacketHead
	JSON []byte
}

var (
	fenceOpen  = lazyregexp.New("^(`{3,}|~{3,})[ \t]*([A-Za-z]*)[ \t]*$")
	fenceClose = lazyregexp.New("^(`{3,}|~{3,})[ \t]*$")
)

// VerifyPackets returns the packets of a comment, one for each section that has one, in their order,
// or an error that says why the comment is not what Switchback posts about a case: its marker has to
// be of the packets' case, or of the case and checkpoint of the only one. Whoever wrote the comment
// is for the caller to check.
func VerifyPackets(body string) ([]VerifiedPacket, error) {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	m, ok := marker.Parse(body)
	if !ok {
		return nil, errors.New("the comment does not end in a marker of Switchback")
	}
	blocks, err := jsonBlocks(body)
	switch {
	case err != nil:
		return nil, err
	case len(blocks) == 0:
		return nil, errors.New("the comment has no block of JSON")
	}
	var out []VerifiedPacket
	seen := map[string]bool{}
	for _, text := range blocks {
		p := VerifiedPacket{JSON: []byte(text)}
		if err := json.Unmarshal(p.JSON, &p.PacketHead); err != nil {
			return nil, fmt.Errorf("a block of the comment is no JSON: %w", err)
		}
		ofOne := len(blocks) == 1 && m.Key == CommentKey(p.Case, p.Checkpoint)
		switch {
		case p.Switchback != PacketVersion:
			return nil, fmt.Errorf("the JSON is no packet of version %d", PacketVersion)
		case !ofOne && m.Key != CaseCommentKey(p.Case):
			return nil, fmt.Errorf("the marker is of %q, and the packet of checkpoint %q of %q", m.Key, p.Checkpoint, p.Case)
		case seen[p.Checkpoint]:
			return nil, fmt.Errorf("the comment has two packets of checkpoint %q", p.Checkpoint)
		}
		seen[p.Checkpoint] = true
		out = append(out, p)
	}
	return out, nil
}

// jsonBlocks returns the texts of the fenced blocks of JSON that stand in no other block.
func jsonBlocks(body string) ([]string, error) {
	var out, block []string
	fence, lang := "", ""
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\n")
		switch {
		case fence == "":
			if open := fenceOpen.FindStringSubmatch(line); open != nil {
				fence, lang, block = open[1], open[2], nil
			}
		case closes(line, fence):
			if lang == "json" {
				out = append(out, strings.TrimSpace(strings.Join(block, "\n")))
			}
			fence = ""
		default:
			block = append(block, line)
		}
	}
	if fence != "" {
		return nil, errors.New("a block of the comment is open")
	}
	return out, nil
}

func closes(line, fence string) bool {
	end := fenceClose.FindStringSubmatch(line)
	return end != nil && end[1][0] == fence[0] && len(end[1]) >= len(fence)
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
