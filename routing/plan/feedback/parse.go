package feedback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxInput bounds what Parse reads, in bytes.
const maxInput = 1 << 20

// aliases are other names of fields.
var aliases = map[string]string{"source": "from_node", "target": "to_node"}

var known = append([]string{"type", "suggested_fix", "suggested_action", "requested_info", "artifacts", "trace", "key"}, required...)

// Parse reads a message from JSON. The error is a *Refusal; the message is then
// what could be read, for the record of the rejection.
func Parse(data []byte) (Message, error) {
	if len(data) > maxInput {
		return Message{}, refuse(Invalid, "Invalid feedback: more than %d bytes", maxInput)
	}
	f := fields{wrong: map[string]*Refusal{}}
	if err := f.read(data); err != nil {
		return Message{}, refuse(Invalid, "Invalid feedback: %v", err)
	}
	m := Message{
		From: f.text("from_node"), To: f.text("to_node"), Type: Type(f.text("feedback_type")), Text: f.text("message"), Priority: Priority(f.text("priority")),
		SuggestedFix: f.text("suggested_fix"), SuggestedAction: f.text("suggested_action"), RequestedInfo: f.text("requested_info"),
		Artifacts: f.artifacts(), Trace: f.text("trace"), Key: f.text("key"),
	}
	if kind := f.text("type"); kind != "" && kind != "FEEDBACK" {
		f.say("type", "Invalid type: %s", kind)
	}
	if r := f.first(m); r != nil {
		return m, r
	}
	return m, nil
}

// fields are the members of a JSON object, by their own names.
type fields struct {
	names  []string // in the order of the text
	values map[string]json.RawMessage
	wrong  map[string]*Refusal // by field
}

func (f *fields) say(field, format string, a ...any) {
	if f.wrong[field] == nil {
		f.wrong[field] = refuse(Invalid, format, a...)
	}
}

// read takes the object apart. Names count as they are written, unlike in
// package json's own structs, and a second one of a name is refused.
func (f *fields) read(data []byte) error {
	f.values = map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil {
		return broken(err)
	} else if t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return broken(err)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return broken(err)
		}
		f.add(t.(string), v) // a name is a string, or Token had failed
	}
	if _, err := dec.Token(); err != nil {
		return broken(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object")
	}
	return nil
}

func broken(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (f *fields) add(written string, v json.RawMessage) {
	name := written
	if to, ok := aliases[written]; ok {
		name = to
	}
	if !slices.Contains(known, name) {
		f.names = append(f.names, name)
		f.say(name, "Unknown field: %s", written)
		return
	}
	old, twice := f.values[name]
	if twice && !bytes.Equal(old, v) {
		f.say(name, "Field given twice: %s", written)
		return
	}
	if !twice {
		f.names = append(f.names, name)
	}
	f.values[name] = v
}

// text returns a field that is a string; null is the same as none.
func (f *fields) text(name string) string {
	v, ok := f.values[name]
	if !ok || string(v) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		f.say(name, "Invalid %s: not a text", name)
	}
	return strings.TrimSpace(s)
}

func (f *fields) artifacts() []Artifact {
	v, ok := f.values["artifacts"]
	if !ok {
		return nil
	}
	var written []string
	if json.Unmarshal(v, &written) != nil {
		f.say("artifacts", "Invalid artifacts: not a list of texts")
	}
	var out []Artifact
	for _, s := range written {
		a, err := ParseArtifact(s)
		if err != nil {
			f.say("artifacts", "Invalid artifact: %s: %v", s, err)
			continue
		}
		out = append(out, a)
	}
	return out
}

// first returns what is wrong first: a missing field, then what was read of
// each field, then what m says as a whole.
func (f *fields) first(m Message) *Refusal {
	for _, name := range required {
		if f.wrong[name] != nil {
			return f.wrong[name]
		}
		if m.field(name) == "" {
			return refuse(Invalid, "Missing required field: %s", name)
		}
	}
	for _, name := range f.names {
		if f.wrong[name] != nil {
			return f.wrong[name]
		}
	}
	return m.Validate()
}

// String is for logs: who asks whom for what.
func (m Message) String() string { return fmt.Sprintf("%s → %s (%s)", m.From, m.To, m.Type) }
