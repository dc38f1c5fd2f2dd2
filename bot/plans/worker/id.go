package worker

import (
	"crypto/rand"
	"encoding/hex"
)

// newID returns a name that nothing else has.
func newID() string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
