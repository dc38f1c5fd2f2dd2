package config

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func schema(t *testing.T) (map[string]any, []byte) {
	t.Helper()
	b, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s, b
}

func TestSchemaIsPublished(t *testing.T) {
	t.Parallel()
	_, want := schema(t)
	got, err := os.ReadFile("../../switchback.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("switchback.schema.json is not that of the code; run `make schema`")
	}
}

// Every key that Parse knows is in the schema and the reverse, each with a
// description or limits, under one name for YAML and JSON.
func TestSchemaHasEveryKey(t *testing.T) {
	t.Parallel()
	s, _ := schema(t)
	defs := s["$defs"].(map[string]any)
	seen := map[reflect.Type]bool{}
	var visit func(rt reflect.Type)
	visit = func(rt reflect.Type) {
		for rt.Kind() == reflect.Pointer || rt.Kind() == reflect.Slice || rt.Kind() == reflect.Map {
			rt = rt.Elem()
		}
		if rt.Kind() != reflect.Struct || seen[rt] {
			return
		}
		seen[rt] = true
		def := s
		if rt.Name() != "File" {
			def = defs[rt.Name()].(map[string]any)
		}
		if def["additionalProperties"] != false {
			t.Errorf("the schema lets any key into %s", rt.Name())
		}
		props := def["properties"].(map[string]any)
		var want, got []string
		for i := range rt.NumField() {
			f := rt.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if name != strings.Split(f.Tag.Get("json"), ",")[0] {
				t.Errorf("%s.%s has two names", rt.Name(), f.Name)
			}
			want = append(want, name)
			visit(f.Type)
		}
		for k := range props {
			got = append(got, k)
		}
		sort.Strings(want)
		sort.Strings(got)
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: keys %v, schema %v", rt.Name(), want, got)
		}
	}
	visit(reflect.TypeOf(File{}))
	if len(seen) < 8 {
		t.Errorf("only %d types were visited", len(seen))
	}
}

// What Parse takes the schema takes, and what the schema refuses Parse refuses.
func TestSchemaAndParseAgree(t *testing.T) {
	t.Parallel()
	s, _ := schema(t)
	_, example := full(t)
	for _, c := range []struct {
		yaml string
		ok   bool
	}{
		{string(example), true},
		{"{}", true},
		{"version: 1\nlanguage: en\n", true},
		{"retry_delay: 0\n", true}, {"retry_delay: 5s\n", true}, {"retry_delay: 1h\n", true}, {"retry_delay: 1m0.5s\n", true}, {"retry_delay: .5s\n", true}, {"retry_delay: 5.s\n", true},
		{"retry_delay: \"0\"\n", true}, {"retry_delay: +3ms\n", true}, {"retry_delay: 10µs\n", true},
		{"retry_delay: 5\n", false}, {"retry_delay: soon\n", false}, {"retry_delay: -1s\n", false},
		{"checkpoints: {a: }\n", true}, {"checkpoints: {a: {}}\n", true}, {"checkpoints: {a: 1}\n", false},
		{"cases: {\"#1\": {max_iterations: 3}}\n", true}, {"cases: {\"#1\": {}}\n", false},
		{"max_iterations: 0\n", true}, {"max_iterations: 10\n", true}, {"max_iterations: 11\n", false}, {"max_iterations: \"3\"\n", false}, {"max_iterations: \n", false},
		{"max_actions: 1000\n", true}, {"max_actions: 0\n", false},
		{"on_max: manual\n", true}, {"on_max: error\n", true}, {"on_max: skip\n", true}, {"on_max: wait\n", false}, {"on_max: \"\"\n", false},
		{"version: 2\n", false}, {"version: \"1\"\n", false},
		{"rules: [{name: a, pattern: x, class: UNKNOWN}]\n", true}, {"rules: [{name: a, pattern: x}]\n", false}, {"rules: [{name: a, pattern: x, class: FLAKY}]\n", false},
		{"flavour: sweet\n", false}, {"handoff: author\n", false}, {"handoff: []\n", true}, {"handoff: {forks: always, to: [{mention: author}]}\n", true}, {"handoff: {forks: perhaps}\n", false}, {"handoff: {at: []}\n", false}, {"handoff: [{at: x}]\n", false}, {"circuit_breaker: perhaps\n", false},
		{"criteria: {min_tests: -1}\n", false}, {"[]\n", false},
	} {
		var v any
		if err := yaml.Unmarshal([]byte(c.yaml), &v); err != nil {
			t.Fatal(err)
		}
		why := validate(s, s, v, "file")
		_, err := Parse("sb.yml", []byte(c.yaml))
		if (why == "") != c.ok || (err == nil) != c.ok {
			t.Errorf("%.200q\nschema: %s\nParse: %v\nwant ok %v", c.yaml, why, err, c.ok)
		}
	}
}

// validate checks v against the keywords that the schema uses; one that it
// does not know is an error, so that none is overlooked.
func validate(root, s map[string]any, v any, at string) string {
	for k, x := range s {
		if why := keyword(root, s, k, x, v, at); why != "" {
			return at + ": " + why
		}
	}
	return ""
}

func keyword(root, s map[string]any, k string, x, v any, at string) string {
	switch k {
	case "$schema", "$defs", "description", "default", "examples", "title":
	case "$ref":
		name := strings.TrimPrefix(x.(string), "#/$defs/")
		return validate(root, root["$defs"].(map[string]any)[name].(map[string]any), v, at)
	case "type":
		return typed(x.(string), v)
	case "enum":
		for _, e := range x.([]any) {
			if same(e, v) {
				return ""
			}
		}
		return fmt.Sprintf("%v is not one of %v", v, x)
	case "const":
		if !same(x, v) {
			return fmt.Sprintf("%v is not %v", v, x)
		}
	case "minimum":
		if n, ok := v.(int); ok && float64(n) < x.(float64) {
			return fmt.Sprintf("%d is below %v", n, x)
		}
	case "maximum":
		if n, ok := v.(int); ok && float64(n) > x.(float64) {
			return fmt.Sprintf("%d is above %v", n, x)
		}
	case "pattern":
		if t, ok := v.(string); ok && !regexp.MustCompile(x.(string)).MatchString(t) {
			return fmt.Sprintf("%q does not match", t)
		}
	case "items":
		l, _ := v.([]any)
		for i, e := range l {
			if why := validate(root, x.(map[string]any), e, fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
	case "required":
		m, _ := v.(map[string]any)
		for _, r := range x.([]any) {
			if _, ok := m[r.(string)]; m != nil && !ok {
				return fmt.Sprintf("%v is missing", r)
			}
		}
	case "anyOf":
		var all []string
		for _, o := range x.([]any) {
			why := validate(root, o.(map[string]any), v, at)
			if why == "" {
				return ""
			}
			all = append(all, why)
		}
		return strings.Join(all, " and ")
	case "properties", "additionalProperties":
		return properties(root, s, k, x, v, at)
	default:
		return "the test does not know the keyword " + k
	}
	return ""
}

func properties(root, s map[string]any, k string, x, v any, at string) string {
	m, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	props, _ := s["properties"].(map[string]any)
	for name, e := range m {
		p, known := props[name].(map[string]any)
		if k == "additionalProperties" {
			if known {
				continue
			}
			if p, known = x.(map[string]any); !known {
				if x == false {
					return name + " is not allowed"
				}
				continue
			}
		}
		if known {
			if why := validate(root, p, e, at+"."+name); why != "" {
				return why
			}
		}
	}
	return ""
}

func typed(want string, v any) string {
	got := fmt.Sprintf("%T", v)
	switch v.(type) {
	case map[string]any:
		got = "object"
	case []any:
		got = "array"
	case string:
		got = "string"
	case int:
		got = "integer"
	case bool:
		got = "boolean"
	case nil:
		got = "null"
	}
	if got != want {
		return fmt.Sprintf("%v is %s, not %s", v, got, want)
	}
	return ""
}

func same(a, b any) bool {
	if n, ok := b.(int); ok {
		return a == float64(n)
	}
	return a == b
}
