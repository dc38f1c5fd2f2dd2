package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestS6_5_NothingLeavesTheProcess is S6-5: a token of an installation, and the value of a secret of the
// job in several encodings, stand in a failure's message; neither the decision, the ledger nor an
// error shows them.
func TestS6_5_NothingLeavesTheProcess(t *testing.T) {
	t.Parallel()
	const held = "plum jam & toast, twice"
	b64 := base64.StdEncoding.EncodeToString([]byte("bot:" + held))
	installation := "ghs_" + "12345_" + base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"12345678"}`)) + "." + strings.Repeat("aB3_", 16)
	forms := []string{installation[10:40], installation[60:], held, url.QueryEscape(held), hex.EncodeToString([]byte(held)), b64[8:24]}
	dir := t.TempDir()
	report := filepath.Join(dir, "r.xml")
	message := strings.NewReplacer("&", "&amp;").Replace("refused " + installation + " and " + strings.Join(forms[2:5], ", ") + ", " + b64)
	xml := `<testsuite name="s"><testcase classname="cart" name="test_sum"><failure message="` + message + `">trace: ` + message + `</failure></testcase></testsuite>`
	if err := os.WriteFile(report, []byte(xml), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(args ...string) string {
		var out bytes.Buffer
		c := exec.Command(os.Args[0], args...)
		c.Env = append(os.Environ(), "SWITCHBACK_RUN_MAIN=1", "DEPLOY_TOKEN="+held)
		c.Stdout, c.Stderr = &out, &out
		_ = c.Run() // a failing run, a command that does not exist
		return out.String()
	}
	all := start("route", "--case", "acme/app#1", "--run", "1", "--sha", strings.Repeat("a", 40), "--ledger", filepath.Join(dir, "ledger"), report)
	if !strings.Contains(all, "ghs_***") {
		t.Errorf("the decision does not show that a token was masked: %s", all)
	}
	all += start(held) + start("show", installation)
	_ = filepath.WalkDir(filepath.Join(dir, "ledger"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := os.ReadFile(path)
			all += string(data)
		}
		return err
	})
	if strings.Count(all, "test_sum") < 2 || strings.Count(all, "switchback: ") < 2 {
		t.Errorf("something is missing: %s", all)
	}
	for _, f := range forms {
		if strings.Contains(all, f) {
			t.Errorf("%q is shown in %s", f, all)
		}
	}
}
