package survey

import (
	"bytes"
	"encoding/json"
)

// encode returns v as JSON as people read it: arrows and quotes stay as they are.
func encode(v any, indent string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	_ = enc.Encode(v) // plain values only
	return b.Bytes()
}
