// Package browser drives Chromium through Playwright, for tests and for the pictures of
// the documentation.
package browser

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Browser is Chromium, driven in a process of its own.
type Browser struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// chromium returns the browser's program: $CHROMIUM, or where Debian has it.
func chromium() (string, error) {
	if p := os.Getenv("CHROMIUM"); p != "" {
		return p, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
	}
	return "", errors.New("no Chromium: install Debian's chromium, or name one in CHROMIUM")
}

// Start starts a browser by the tools of the checkout at root. Run starts a process;
// nil is exec.Cmd.Start.
func Start(root string, run func(*exec.Cmd) error) (*Browser, error) {
	program, err := chromium()
	if err != nil {
		return nil, err
	}
	tools := filepath.Join(root, "e2e", "node_modules")
	for _, file := range []string{"node/bin/node", "playwright-core/package.json", "axe-core/axe.min.js"} {
		if _, err := os.Stat(filepath.Join(tools, file)); err != nil {
			return nil, fmt.Errorf("%s is missing: run `make e2e-tools` (npm ci in e2e/)", file)
		}
	}
	b := &Browser{cmd: exec.Command(filepath.Join(tools, "node/bin/node"), filepath.Join(root, "e2e", "browser", "drive.mjs"))}
	b.cmd.Env = append(os.Environ(), "CHROMIUM="+program)
	b.cmd.Stderr = os.Stderr
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReaderSize(out, 1<<20)
	if run == nil {
		run = (*exec.Cmd).Start
	}
	return b, run(b.cmd)
}

// Close ends the browser.
func (b *Browser) Close() error {
	return errors.Join(b.in.Close(), b.cmd.Wait())
}

// Do asks a window of the browser for something; see e2e/browser/drive.mjs for what
// there is. A window is made when it is named first.
func (b *Browser) Do(tab, what string, args map[string]any, into any) error {
	line := map[string]any{"do": what, "tab": tab}
	for k, v := range args {
		line[k] = v
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.in.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("the browser has ended: %w", err)
	}
	got, err := b.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the browser has ended: %w", err)
	}
	var answer struct {
		Value json.RawMessage
		Error string
	}
	if err := json.Unmarshal(got, &answer); err != nil {
		return fmt.Errorf("%s: %w", got, err)
	}
	if answer.Error != "" {
		return fmt.Errorf("%s %v: %s", what, args, answer.Error)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, into)
}
