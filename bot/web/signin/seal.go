package signin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// seal keeps what is in the database or in a browser from being read or changed
// there. Its keys are made of the App's client secret, which is in neither.
type seal struct {
	tokens, pending cipher.AEAD
	forms           []byte
}

// newSeal derives the keys of a client secret. With another one nothing that was
// sealed before can be opened.
func newSeal(secret string) (*seal, error) {
	if secret == "" {
		return nil, errors.New("the App's client secret is missing")
	}
	s := &seal{}
	for info, aead := range map[string]*cipher.AEAD{"tokens": &s.tokens, "pending": &s.pending} {
		key, err := derive(secret, info)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if *aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
	}
	var err error
	s.forms, err = derive(secret, "forms")
	return s, err
}

func derive(secret, info string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "switchback sign-in v1 "+info, 32)
	if err != nil {
		return nil, fmt.Errorf("a key of the client secret: %w", err)
	}
	return key, nil
}

// errSeal says that something was not sealed with this secret, or for another place.
var errSeal = errors.New("not sealed by this App")

// closeWith seals v for the place named by at.
func closeWith(a cipher.AEAD, v any, at string) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(a.Seal(nil, nil, data, []byte(at))), nil
}

// openWith opens what closeWith made for the same place.
func openWith(a cipher.AEAD, text, at string, v any) error {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return errSeal
	}
	plain, err := a.Open(nil, nil, data, []byte(at))
	if err != nil || json.Unmarshal(plain, v) != nil {
		return errSeal
	}
	return nil
}

// csrf is what goes with every form of a session.
func (s *seal) csrf(session string) string {
	m := hmac.New(sha256.New, s.forms)
	m.Write([]byte(session))
	return hex.EncodeToString(m.Sum(nil))
}

// hash is what is kept of a session's secret. It has 256 random bits, so that
// nothing slower is needed.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
