package feedback

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Message is a feedback as its sender words it.
type Message struct {
	From            string     `json:"from_node"`
	To              string     `json:"to_node"`
	Type            Type       `json:"feedback_type"`
	Text            string     `json:"message"`
	Priority        Priority   `json:"priority"`
	SuggestedFix    string     `json:"suggested_fix,omitempty"`
	SuggestedAction string     `json:"suggested_action,omitempty"`
	RequestedInfo   string     `json:"requested_info,omitempty"`
	Artifacts       []Artifact `json:"artifacts,omitempty"`
	Trace           string     `json:"trace,omitempty"` // of the failure the sender saw
	// Key names the sending: what a plan has recorded under a key is not
	// recorded again. Empty: every sending is a new one.
	Key string `json:"key,omitempty"`
}

// Artifact is a place in a file. It is written path:line or path:line-line.
type Artifact struct {
	Path string // below the root of the repository, with slashes
	Line int    // 1-based
	End  int    // last line, Line if it is one line
}

var artifactForm = lazyregexp.New(`^(.+):([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?$`)

// ParseArtifact reads path:line or path:line-line. A path that leads out of the
// repository is refused: its file would be handed to the target.
func ParseArtifact(s string) (Artifact, error) {
	m := artifactForm.FindStringSubmatch(s)
	if m == nil {
		return Artifact{}, errors.New("not path:line or path:line-line")
	}
	a := Artifact{Path: m[1]}
	a.Line, _ = strconv.Atoi(m[2]) // nine digits
	if a.End = a.Line; m[3] != "" {
		a.End, _ = strconv.Atoi(m[3])
	}
	return a, a.check()
}

func (a Artifact) check() error {
	switch {
	case a.Line < 1 || a.End < a.Line:
		return errors.New("its lines run backwards")
	case strings.TrimSpace(a.Path) != a.Path || a.Path == "" || len(a.Path) > maxName || !utf8.ValidString(a.Path) || strings.ContainsFunc(a.Path, unicode.IsControl):
		return errors.New("its path is none")
	case strings.ContainsRune(a.Path, '\\') || path.IsAbs(a.Path) || regexp.MustCompile(`^[A-Za-z]:`).MatchString(a.Path):
		return errors.New("its path is not relative to the repository, with slashes")
	case path.Clean(a.Path) == ".." || strings.HasPrefix(path.Clean(a.Path), "../"):
		return errors.New("its path leads out of the repository")
	}
	return nil
}

// String returns the artifact as it is written.
func (a Artifact) String() string {
	s := a.Path + ":" + strconv.Itoa(a.Line)
	if a.End > a.Line {
		s += "-" + strconv.Itoa(a.End)
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (a Artifact) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Artifact) UnmarshalText(b []byte) (err error) {
	*a, err = ParseArtifact(string(b))
	return err
}

// needs names the suggestions of which a type needs one.
var needs = map[Type][]string{
	FixRequest:        {"suggested_fix"},
	ContextRequest:    {"requested_info"},
	DependencyMissing: {"suggested_action"},
	ArchitectureIssue: {"suggested_fix", "suggested_action"},
}

func (m Message) field(name string) string {
	switch name {
	case "from_node":
		return m.From
	case "to_node":
		return m.To
	case "feedback_type":
		return string(m.Type)
	case "message":
		return m.Text
	case "priority":
		return string(m.Priority)
	case "suggested_fix":
		return m.SuggestedFix
	case "suggested_action":
		return m.SuggestedAction
	case "requested_info":
		return m.RequestedInfo
	}
	return ""
}

var required = []string{"from_node", "to_node", "feedback_type", "message", "priority"}

// Validate returns why m cannot be sent whatever the plan is, nil if it can.
func (m Message) Validate() *Refusal {
	for _, f := range required {
		if strings.TrimSpace(m.field(f)) == "" {
			return refuse(Invalid, "Missing required field: %s", f)
		}
	}
	if !m.Type.Valid() {
		return refuse(Invalid, "Invalid feedback_type: %s", m.Type)
	}
	if !m.Priority.Valid() {
		return refuse(Invalid, "Invalid priority: %s", m.Priority)
	}
	if len(m.Artifacts) > maxArtifacts {
		return refuse(Invalid, "Invalid artifacts: more than %d", maxArtifacts)
	}
	for _, a := range m.Artifacts {
		if err := a.check(); err != nil {
			return refuse(Invalid, "Invalid artifact: %s: %v", a, err)
		}
	}
	if !slices.ContainsFunc(needs[m.Type], func(f string) bool { return strings.TrimSpace(m.field(f)) != "" }) {
		return refuse(Vague, "Vague feedback: %s needs %s", m.Type, strings.Join(needs[m.Type], " or "))
	}
	return nil
}

// Bytes of what is kept of a text.
const (
	maxName      = 200
	maxText      = 8 << 10
	maxTrace     = 32 << 10
	maxArtifacts = 100
)

// kept returns m as it is recorded: secrets masked, texts cut. The end of a
// trace is kept, the beginning of everything else.
func (m Message) kept() Message {
	m.From, m.To, m.Key = cut(m.From, maxName), cut(m.To, maxName), cut(m.Key, maxName)
	m.Type, m.Priority = Type(cut(string(m.Type), maxName)), Priority(cut(string(m.Priority), maxName))
	for _, s := range []*string{&m.Text, &m.SuggestedFix, &m.SuggestedAction, &m.RequestedInfo} {
		*s = cut(redact.Text(*s), maxText)
	}
	m.Trace = tail(redact.Text(m.Trace), maxTrace)
	m.Artifacts = slices.Clone(m.Artifacts)
	return m
}

// cut keeps the beginning of a text that somebody wrote, tail its end: n bytes of valid UTF-8.
func cut(s string, n int) string {
	return truncate.Head(strings.ToValidUTF8(s, "\uFFFD"), n, truncate.Ellipsis)
}

func tail(s string, n int) string {
	return truncate.Tail(strings.ToValidUTF8(s, "\uFFFD"), n, truncate.Ellipsis)
}

// Why names the rule by which a feedback was refused.
type Why string

// The rules.
const (
	Invalid  Why = "invalid"   // not a message
	Vague    Why = "vague"     // without the suggestion its type needs
	NoTarget Why = "no-target" // the target is no ancestor, or not one for its type
	Rounds   Why = "rounds"    // the pair's rounds are used up
	Depth    Why = "depth"     // the chain would be too deep
	Cycle    Why = "cycle"     // the chain would close
)

// LoopLimit is said of every refusal by a limit.
const LoopLimit = "Feedback loop limit reached, aborting"

// Refusal says why a feedback was not queued.
type Refusal struct {
	Why  Why    `json:"why"`
	Text string `json:"text"`
}

func refuse(why Why, format string, a ...any) *Refusal {
	return &Refusal{why, cut(fmt.Sprintf(format, a...), maxText)}
}

// Limit reports whether a limit refused, rather than the message's own faults.
func (e *Refusal) Limit() bool { return e.Why == Rounds || e.Why == Depth || e.Why == Cycle }

// Lines returns what to tell the sender, line by line.
func (e *Refusal) Lines() []string {
	if e.Limit() {
		return []string{e.Text, LoopLimit}
	}
	return []string{e.Text}
}

func (e *Refusal) Error() string {
	if e.Limit() {
		return LoopLimit + ": " + e.Text
	}
	return e.Text
}
