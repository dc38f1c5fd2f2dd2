package config

import (
	"reflect"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
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
func (h Handoff) ToAuthor() bool { return h.Mention == "author" }

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

var handle = regexp.MustCompile(`^@?[A-Za-z0-9][A-Za-z0-9_.-]*(?:\[bot\])?(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)?$`)

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
