package feedback

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// The document's four examples.
var examples = []string{
	`{"type":"FEEDBACK","from_node":"test-payment-model","to_node":"create-payment-model","feedback_type":"FIX_REQUEST","message":"PaymentSpec failing: validates_presence_of :email expected to fail but passed","suggested_fix":"Add validates :email, presence: true to Payment model","priority":"high","artifacts":["spec/models/payment_spec.rb:42-45"]}`,
	`{"type":"FEEDBACK","from_node":"create-payments-controller","to_node":"create-payment-service","feedback_type":"CONTEXT_REQUEST","message":"Need PaymentService method signature to call from controller","requested_info":"method_name, parameters, return_type","priority":"medium"}`,
	`{"type":"FEEDBACK","from_node":"create-payment-processor","to_node":"workflow-root","feedback_type":"DEPENDENCY_MISSING","message":"PaymentProcessorService requires Refund model which doesn't exist","suggested_action":"Add Refund model creation before PaymentProcessor","priority":"critical"}`,
	`{"type":"FEEDBACK","from_node":"create-invoice-service","to_node":"plan-invoice-feature","feedback_type":"ARCHITECTURE_ISSUE","message":"Circular dependency: Invoice → Payment → Invoice","suggested_fix":"Break cycle with InvoicePayment join model","priority":"critical"}`,
}

// with returns a whole message with one field as given; "" leaves it out.
func with(field, value string) string {
	m := map[string]json.RawMessage{
		"from_node": []byte(`"a"`), "to_node": []byte(`"b"`), "feedback_type": []byte(`"FIX_REQUEST"`), "message": []byte(`"it fails"`),
		"priority": []byte(`"high"`), "suggested_fix": []byte(`"fix it"`),
	}
	if m[field] = json.RawMessage(value); value == "" {
		delete(m, field)
	}
	out, _ := json.Marshal(m)
	return string(out)
}

func whyNot(t *testing.T, text string) string {
	t.Helper()
	_, err := Parse([]byte(text))
	if err == nil {
		return ""
	}
	var ref *Refusal
	if !errors.As(err, &ref) {
		t.Fatalf("%T: %v", err, err)
	}
	return ref.Text
}

func TestParse(t *testing.T) {
	t.Parallel()
	t.Run("S3-8 the document's examples, with their optional fields", func(t *testing.T) {
		var got []Message
		for _, e := range examples {
			m, err := Parse([]byte(e))
			if err != nil {
				t.Fatal(e, err)
			}
			got = append(got, m)
		}
		if a := got[0].Artifacts; len(a) != 1 || a[0] != (Artifact{"spec/models/payment_spec.rb", 42, 45}) || got[0].SuggestedFix == "" {
			t.Errorf("%+v", got[0])
		}
		if got[1].RequestedInfo != "method_name, parameters, return_type" || got[2].SuggestedAction == "" {
			t.Errorf("%+v", got[1:3])
		}
	})
	t.Run("S3-8 artifacts are path and line, or lines", func(t *testing.T) {
		for s, want := range map[string]Artifact{
			"a.go:1": {"a.go", 1, 1}, "spec/a_spec.rb:42-45": {"spec/a_spec.rb", 42, 45}, "dir/x:y.c:7": {"dir/x:y.c", 7, 7}, "a b.txt:9-9": {"a b.txt", 9, 9},
		} {
			a, err := ParseArtifact(s)
			if err != nil || a != want {
				t.Errorf("%s: %+v %v", s, a, err)
			}
			if back, err := ParseArtifact(a.String()); err != nil || back != a {
				t.Errorf("%s: written as %s", s, a)
			}
		}
		for _, s := range []string{"a.go", "a.go:", ":3", "a.go:0", "a.go:5-3", "a.go:1-", "a.go:-1", "/etc/passwd:1", "../x:1", "a/../../x:1", `C:\x.go:1`, "C:x.go:1", `a\b:1`, "a\nb:1", " a:1", "a.go:99999999999"} {
			if _, err := ParseArtifact(s); err == nil {
				t.Errorf("%q is taken", s)
			}
		}
		if got := whyNot(t, with("artifacts", `["a.go"]`)); got != "Invalid artifact: a.go: not path:line or path:line-line" {
			t.Error(got)
		}
		for _, v := range []string{`"a.go:1"`, `[1]`, `{}`} {
			if got := whyNot(t, with("artifacts", v)); got != "Invalid artifacts: not a list of texts" {
				t.Error(v, got)
			}
		}
	})
	t.Run("S3-3 S3-4 each required field that is missing, empty or null", func(t *testing.T) {
		for _, f := range []string{"from_node", "to_node", "feedback_type", "message", "priority"} {
			for _, v := range []string{"", `""`, `"  "`, "null"} {
				if got := whyNot(t, with(f, v)); got != "Missing required field: "+f {
					t.Errorf("%s = %s: %q", f, v, got)
				}
			}
		}
		if got := whyNot(t, `{}`); got != "Missing required field: from_node" {
			t.Error(got)
		}
	})
	t.Run("S3-5 an unknown type", func(t *testing.T) {
		for _, v := range []string{"NONSENSE", "fix_request", "FEEDBACK"} {
			if got := whyNot(t, with("feedback_type", `"`+v+`"`)); got != "Invalid feedback_type: "+v {
				t.Error(got)
			}
		}
	})
	t.Run("S3-7 another priority is refused", func(t *testing.T) {
		for _, v := range []string{"urgent", "High", "0"} {
			if got := whyNot(t, with("priority", `"`+v+`"`)); got != "Invalid priority: "+v {
				t.Error(got)
			}
		}
	})
	t.Run("S3-14 vague feedback is refused, by its type", func(t *testing.T) {
		all := []string{"suggested_fix", "suggested_action", "requested_info"}
		for typ, takes := range map[Type]string{FixRequest: "suggested_fix", ContextRequest: "requested_info", DependencyMissing: "suggested_action", ArchitectureIssue: "suggested_fix or suggested_action"} {
			for _, f := range append(all, "") {
				text := `{"from_node":"a","to_node":"b","feedback_type":"` + string(typ) + `","message":"x","priority":"low"`
				if f != "" {
					text += `,"` + f + `":"do it"`
				}
				want := "Vague feedback: " + string(typ) + " needs " + takes
				if f != "" && strings.Contains(takes, f) {
					want = ""
				}
				if got := whyNot(t, text+"}"); got != want {
					t.Errorf("%s with %q: %q, want %q", typ, f, got, want)
				}
			}
		}
		if got := whyNot(t, with("suggested_fix", `" \n"`)); !strings.HasPrefix(got, "Vague feedback") {
			t.Error(got)
		}
	})
	t.Run("source and target are other names of the nodes", func(t *testing.T) {
		m, err := Parse([]byte(`{"source":"a","target":"b","feedback_type":"FIX_REQUEST","message":"x","priority":"low","suggested_fix":"y"}`))
		if err != nil || m.From != "a" || m.To != "b" {
			t.Errorf("%+v %v", m, err)
		}
		if got := whyNot(t, with("source", `"a"`)); got != "" {
			t.Errorf("the same twice: %s", got)
		}
		if got := whyNot(t, with("source", `"other"`)); !strings.HasPrefix(got, "Field given twice: ") {
			t.Error(got)
		}
	})
	t.Run("what is no message", func(t *testing.T) {
		for text, want := range map[string]string{
			"": "Invalid feedback: unexpected EOF", "[]": "Invalid feedback: not a JSON object", "null": "Invalid feedback: not a JSON object", `{"a":`: "Invalid feedback: unexpected EOF",
			with("", "") + "{}":             "Invalid feedback: something follows the JSON object",
			with("round", "2"):              "Unknown field: round",
			with("From_Node", `"c"`):        "Unknown field: From_Node",
			with("type", `"OTHER"`):         "Invalid type: OTHER",
			with("from_node", "5"):          "Invalid from_node: not a text",
			with("suggested_fix", `["x"]`):  "Invalid suggested_fix: not a text",
			strings.Repeat(" ", maxInput+1): "Invalid feedback: more than 1048576 bytes",
		} {
			if got := whyNot(t, text); got != want {
				t.Errorf("%.60s: %q, want %q", text, got, want)
			}
		}
	})
	t.Run("what is kept is cut at whole characters, and without secrets", func(t *testing.T) {
		m := Message{Text: strings.Repeat("é", maxText), Trace: "first" + strings.Repeat("é", maxTrace) + "last", SuggestedFix: "token ghp_abcdefghijklmnopqrstuvwxyz0123456789", From: "a\xff"}.kept()
		if len(m.Text) > maxText || len(m.Trace) > maxTrace || !utf8.ValidString(m.Text+m.Trace+m.From) || !strings.HasSuffix(m.Trace, "last") || strings.Contains(m.SuggestedFix, "ghp_a") {
			t.Errorf("%d %d %s %q", len(m.Text), len(m.Trace), m.SuggestedFix, m.From)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, e := range examples {
		f.Add([]byte(e))
	}
	for _, s := range []string{`{}`, `{"from_node":null,"source":"a"}`, `{"artifacts":["a:1",null,"b:2-1"]}`, `{"from_node":"a","from_node":"b"}`, "{\"message\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	g := planOf("b", "a: b")
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err == nil {
			if ref := m.Validate(); ref != nil {
				t.Fatalf("parsed, and then refused: %v", ref)
			}
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse(text)
			if err != nil {
				t.Fatalf("%s is not read again: %v", text, err)
			}
			if a, b := mustJSON(t, again), mustJSON(t, m); a != b {
				t.Fatalf("%s\nis read as\n%s", b, a)
			}
		} else if whyNot(t, string(data)) == "" {
			t.Fatal("refused without a reason")
		}
		s, err := State{}.Outbox("p", g, t0).SendJSON(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Fold(s.Events); err != nil || len(s.Events) != 1 {
			t.Fatalf("%d events: %v", len(s.Events), err)
		}
	})
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
