package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// Handoffs are the ways to reach workers, and for whose changes anybody but the author is reached.
// Written as a list, it is To.
type Handoffs struct {
	Forks string    `yaml:"forks,omitempty" json:"forks,omitempty" jsonschema:"enum=never,enum=approved,enum=always,default=approved,description=Whether pull requests from forks and of authors without write access start anybody but their author: never or once a maintainer approves the commit with /switchback handoff or always."`
	To    []Handoff `yaml:"to,omitempty" json:"to,omitempty" jsonschema:"description=How a failure that is returned for a fix reaches its worker; default: mention the author in the comment."`
}

// The values of Handoffs.Forks.
const (
	ForksNever    = "never"
	ForksApproved = "approved"
	ForksAlways   = "always"
)

// Author is the mention that means the author of the pull request, and the name of that worker.
const Author = "author"

// handoffs is Handoffs without its methods.
type handoffs Handoffs

// UnmarshalYAML implements yaml.Unmarshaler.
func (h *Handoffs) UnmarshalYAML(n *yaml.Node) error {
	// Decode forgets that unknown keys are refused.
	wrong := unknownKeys(n, reflect.TypeFor[Handoffs](), 0)
	var err error
	if n.Kind == yaml.MappingNode {
		err = n.Decode((*handoffs)(h))
	} else {
		err = n.Decode(&h.To)
	}
	te, ok := err.(*yaml.TypeError)
	if err != nil && !ok {
		return err
	}
	if ok {
		wrong = append(wrong, te.Errors...)
	}
	if len(wrong) > 0 {
		return &yaml.TypeError{Errors: wrong}
	}
	return nil
}

// unknownKeys returns an error, as the decoder words it, for each key of n that type t lacks.
func unknownKeys(n *yaml.Node, t reflect.Type, depth int) []string {
	if depth > 3 {
		return nil
	}
	var wrong []string
	switch {
	case n.Kind == yaml.AliasNode:
		return unknownKeys(n.Alias, t, depth+1)
	case n.Kind == yaml.SequenceNode && t == reflect.TypeFor[Handoffs]():
		return unknownKeys(n, reflect.TypeFor[[]Handoff](), depth)
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, x := range n.Content {
			wrong = append(wrong, unknownKeys(x, t.Elem(), depth+1)...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if v := valueType(t, k.Value); v != nil {
				wrong = append(wrong, unknownKeys(n.Content[i+1], v, depth+1)...)
			} else if k.Tag != "!!merge" {
				wrong = append(wrong, lineError(k.Line, "field %s not found in type %s", k.Value, t))
			}
		}
	}
	return wrong
}

// HandoffsOrDefault returns the configured hand-offs, or to mention the author.
func (f File) HandoffsOrDefault() []Handoff {
	if len(f.Handoff.To) == 0 {
		return []Handoff{{Mention: "author"}}
	}
	return f.Handoff.To
}

// ForksOrDefault returns whose changes start agents: ForksNever, ForksApproved or ForksAlways.
func (f File) ForksOrDefault() string {
	if f.Handoff.Forks == "" {
		return ForksApproved
	}
	return f.Handoff.Forks
}

// ToAuthor reports whether h reaches nobody but the author of the change.
func (h Handoff) ToAuthor() bool { return h.Mention == Author }

// mostInTurn is how many workers are told in turn, so that no key of a hand-off begins another.
const mostInTurn = 9

// limited reports whether a worker has to answer in time.
func (h Handoff) limited() bool { return h.AckWithin != nil || h.DeliverWithin != nil }

// InTurn reports whether workers are told in turn, the next one when the time of the one before is
// over, and not all at once.
func (h Handoffs) InTurn() bool { return slices.ContainsFunc(h.To, Handoff.limited) }

// Name names a worker for people, without mentioning anybody.
func (h Handoff) Name() string {
	return strings.TrimPrefix(h.Mention, "@") + h.Workflow + h.Dispatch + h.Label
}

// workers returns who is told in turn, none if all are told at once. A branch has nobody to mention,
// and nothing to label.
func (h Handoffs) workers(branch bool) []routing.Worker {
	if !h.InTurn() {
		return nil
	}
	var out []routing.Worker
	for _, x := range h.To {
		if branch && x.Workflow == "" && x.Dispatch == "" {
			continue
		}
		w := routing.Worker{Name: x.Name()}
		if x.AckWithin != nil {
			w.Ack = time.Duration(*x.AckWithin)
		}
		if x.DeliverWithin != nil {
			w.Deliver = time.Duration(*x.DeliverWithin)
		}
		out = append(out, w)
	}
	return out
}

// ByName returns how a worker is reached who is told in turn, at a place from 1 among those that the
// configuration had, and false if it has the worker no more.
func (h Handoffs) ByName(name string, place int) (Handoff, bool) {
	if place >= 1 && place <= len(h.To) && h.To[place-1].Name() == name {
		return h.To[place-1], true
	}
	i := slices.IndexFunc(h.To, func(x Handoff) bool { return x.Name() == name })
	if i < 0 {
		return Handoff{}, false
	}
	return h.To[i], true
}

// checkInTurn checks the limits of workers who are told in turn.
func checkInTurn(c checker, path []any, hs []Handoff) {
	if len(hs) > mostInTurn {
		c.add(path, "%d workers with ack_within or deliver_within, at most %d can be told in turn", len(hs), mostInTurn)
	}
	for i, h := range hs {
		at := append(path[:len(path):len(path)], i)
		if !h.limited() && i < len(hs)-1 {
			c.add(at, "%s has neither ack_within nor deliver_within, so the workers behind it are never told; give it one, or put it last", h.Name())
		}
		if h.AckWithin != nil && h.DeliverWithin != nil && *h.AckWithin > *h.DeliverWithin {
			c.add(append(at, "ack_within"), "ack_within is longer than deliver_within; a worker acknowledges before it delivers")
		}
	}
}

// checkUnlimited refuses what only workers of handoff have.
func checkUnlimited(c checker, path []any, h Handoff) {
	if h.limited() || h.Login != "" {
		c.add(path, "ack_within, deliver_within and login go with the workers of handoff only")
	}
}

// Unstarted returns warnings about mentions that start nothing if they are posted with GITHUB_TOKEN.
func Unstarted(f File) []string {
	if f.Acts == ActsApp {
		return nil // its posts are the App's
	}
	var out []string
	warn := func(key string, h *Handoff) {
		if h != nil && h.Mention != "" && !h.ToAuthor() && !strings.Contains(h.Mention, "/") { // a team is people
			out = append(out, fmt.Sprintf("%s: a comment that GITHUB_TOKEN posts starts no workflow, so the mention of %s starts nothing that runs in GitHub Actions; "+
				"use workflow or repository_dispatch, the token of an App (the input token), or the App (acts: app)", key, h.Name()))
		}
	}
	for i := range f.Handoff.To {
		warn(fmt.Sprintf("handoff[%d]", i), &f.Handoff.To[i])
	}
	warn("reviewer", f.Reviewer)
	for _, name := range keys(f.Checkpoints) {
		warn("checkpoints."+name+".start", f.Checkpoints[name].Start)
	}
	return out
}

// HandsOff reports whether a failure is handed off to anybody but the author.
func (f File) HandsOff() bool {
	for _, h := range f.Handoff.To {
		if !h.ToAuthor() {
			return true
		}
	}
	return false
}

// Starts returns the checkpoints whose needs start anybody but the author when they have passed; ""
// is the reviewer.
func (f File) Starts() map[string]bool {
	out := map[string]bool{}
	if f.Reviewer != nil && !f.Reviewer.ToAuthor() {
		out[""] = true
	}
	for name, cp := range f.Checkpoints {
		if cp.Start != nil && !cp.Start.ToAuthor() {
			out[name] = true
		}
	}
	return out
}

var handle = lazyregexp.New(`^@?[A-Za-z0-9][A-Za-z0-9_.-]*(?:\[bot\])?(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)?$`)

// Handles returns the logins and teams, without "@", that the configuration mentions. Workflows may be
// triggered by their mention in a comment, whoever wrote it.
func (f File) Handles() []string {
	var out []string
	add := func(mention string) {
		for _, m := range strings.Fields(mention) {
			if m = strings.TrimRight(m, ","); m != "author" && handle.MatchString(m) {
				out = append(out, strings.TrimPrefix(m, "@"))
			}
		}
	}
	for _, h := range f.Handoff.To {
		add(h.Mention)
	}
	if f.Reviewer != nil {
		add(f.Reviewer.Mention)
	}
	for _, cp := range f.Checkpoints {
		if cp.Start != nil {
			add(cp.Start.Mention)
		}
	}
	add(f.Escalation.Mention)
	return out
}
