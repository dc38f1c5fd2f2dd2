package config

import (
	"encoding/json"

	"github.com/invopop/jsonschema"
)

// JSONSchema implements the schema generator's interface: a Duration is a text
// as time.ParseDuration takes it, or 0.
func (Duration) JSONSchema() *jsonschema.Schema {
	const pattern = `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$|^[+-]?0$`
	return &jsonschema.Schema{
		AnyOf:    []*jsonschema.Schema{{Type: "string", Pattern: pattern}, {Const: 0}},
		Examples: []any{"5s", "2m"},
	}
}

// JSONSchemaExtend lets a checkpoint stand by its name alone, and a list of hand-offs for their key to.
func (File) JSONSchemaExtend(s *jsonschema.Schema) {
	cps, ok := s.Properties.Get("checkpoints")
	if ok && cps.AdditionalProperties != nil {
		cps.AdditionalProperties = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{cps.AdditionalProperties, {Type: "null"}}}
	}
	if h, ok := s.Properties.Get("handoff"); ok && h.Ref != "" {
		list := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Ref: "#/$defs/Handoff"}}
		s.Properties.Set("handoff", &jsonschema.Schema{AnyOf: []*jsonschema.Schema{list, {Ref: h.Ref}}, Description: h.Description})
	}
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

// JSONSchema returns the schema of a percentage: a number, or a text with a percent sign.
func (Percent) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		AnyOf:    []*jsonschema.Schema{{Type: "integer", Minimum: "0", Maximum: "100"}, {Type: "string", Pattern: `^(100|[1-9]?[0-9]) *%?$`}},
		Examples: []any{20, "20%"},
	}
}
