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

// seal encrypts what the database and browsers store. Its keys are derived from the App's client
// secret, which neither holds.
type seal struct {
	tokens, pending cipher.AEAD
	forms           []byte
}

// newSeal derives the keys from a client secret. Another secret decrypts nothing that was encrypted
// before.
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

// errSeal is the error of a text that was encrypted with another secret or for another place.
var errSeal = errors.New("not sealed by this App")

// closeWith encrypts v for the place named by at.
func closeWith(a cipher.AEAD, v any, at string) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(a.Seal(nil, nil, data, []byte(at))), nil
}

// openWith decrypts what closeWith encrypted for the same place.
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

// csrf returns the token of the forms of a session.
func (s *seal) csrf(session string) string {
	m := hmac.New(sha256.New, s.forms)
	m.Write([]byte(session))
	return hex.EncodeToString(m.Sum(nil))
}

// hash returns the stored hash of a session's secret. The secret has 256 random bits, so that no
// slow hash is needed.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
