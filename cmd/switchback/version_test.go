package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// version says what was built, also for programs.
func TestVersion(t *testing.T) {
	t.Parallel()
	short := run(t, "", "--version")
	r := run(t, "", "version")
	if r.code != 0 || !strings.HasPrefix(r.out, "switchback "+versionString()+"\n") || !strings.Contains(short.out, versionString()) ||
		!strings.Contains(r.out, "built by "+runtime.Version()+"\nplatform "+runtime.GOOS+"/"+runtime.GOARCH+"\n") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	hasKeys(t, "version --json", run(t, "", "version", "--json").out, "version", "go", "os", "arch")
	v := versionOf(&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}}}, true)
	if v.Commit != "abc" || v.Built != "2026-01-02T03:04:05Z" || !v.Modified {
		t.Errorf("%+v", v)
	}
}
