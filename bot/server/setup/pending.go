package setup

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const pendingName = "setup.json"

// hour is how long the code is good with which GitHub sends somebody back.
const hour = time.Hour

// pending is a creation that has begun. It is kept in the data directory, so
// that a page that was opened before this process was stopped goes on with the
// next one.
type pending struct {
	Token string    `json:"token"` // opens the page
	State string    `json:"state"` // comes back from GitHub
	Began time.Time `json:"began"`
	Wish  Wish      `json:"wish"`
}

// resume returns the creation that has begun in dir, or begins one.
func resume(dir string, now time.Time) (pending, error) {
	path := filepath.Join(dir, pendingName)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return pending{}, err
	}
	var p pending
	if json.Unmarshal(data, &p) == nil && len(p.Token) == 32 && len(p.State) == 32 && now.Sub(p.Began) < hour && !p.Began.After(now) {
		return p, nil
	}
	p = pending{Token: random(), State: random(), Began: now}
	return p, p.save(dir)
}

func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func (p pending) save(dir string) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+pendingName+"-") // 0600
	if err != nil {
		return fmt.Errorf("the data directory: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, pendingName))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func forget(dir string) error {
	err := os.Remove(filepath.Join(dir, pendingName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
