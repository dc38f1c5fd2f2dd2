package config

import (
	"encoding/json"

	"github.com/invopop/jsonschema"
)

// JSONSchema implements the schema generator's interface: a Duration is a text.
func (Duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`, Examples: []any{"5s", "2m"}}
}

// Schema returns the JSON Schema of the configuration file.
func Schema() ([]byte, error) {
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true}
	s := r.Reflect(&File{})
	s.Title = "Switchback configuration (" + Path + ")"
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}
