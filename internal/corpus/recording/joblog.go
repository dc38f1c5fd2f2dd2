package recording

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// signals are what bash says of a command that a signal ended, by exit code.
var signals = map[int]string{
	134: "Aborted                 (core dumped)",
	136: "Floating point exception(core dumped)",
	137: "Killed",
	139: "Segmentation fault      (core dumped)",
}

// JobLog returns the log that GitHub Actions shows of a job with a checkout and
// one step that runs command, prints text and ends with exit.
func JobLog(command string, text []byte, exit int) []byte {
	var b bytes.Buffer
	at := time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)
	line := func(s string) {
		at = at.Add(7_300_100 * time.Nanosecond)
		b.WriteString(at.Format("2006-01-02T15:04:05.0000000Z "))
		b.WriteString(s)
		b.WriteByte('\n')
	}
	for _, s := range []string{
		"Current runner version: '2.330.0'",
		"##[group]Runner Image Provisioner",
		"Hosted Compute Agent",
		"##[endgroup]",
		"##[group]Operating System",
		"Ubuntu",
		"24.04.3",
		"LTS",
		"##[endgroup]",
		"##[group]GITHUB_TOKEN Permissions",
		"Contents: read",
		"Metadata: read",
		"##[endgroup]",
		"Secret source: Actions",
		"Prepare workflow directory",
		"Prepare all required actions",
		"Getting action download info",
		"Complete job name: test",
		"##[group]Run actions/checkout@v5",
		"with:",
		"  repository: project/project",
		"  fetch-depth: 1",
		"##[endgroup]",
		"Syncing repository: project/project",
		"##[group]Fetching the repository",
		"##[endgroup]",
	} {
		line(s)
	}
	commands := strings.Split(command, "\n")
	line("##[group]Run " + commands[0])
	for _, c := range commands {
		line("\x1b[36;1m" + c + "\x1b[0m")
	}
	line("shell: /usr/bin/bash -e {0}")
	line("##[endgroup]")
	for l := range bytes.Lines(text) {
		line(strings.TrimRight(string(l), "\r\n"))
	}
	if died, ok := signals[exit]; ok && !bytes.Contains(text, []byte(".sh: line ")) {
		line(fmt.Sprintf("/home/runner/work/_temp/4f1c0d6e-9a57-4b0c-8f41-6d2f0c9d3b7a.sh: line 1:  2175 %-23s %s", died, commands[0]))
	}
	if exit != 0 {
		line(fmt.Sprintf("##[error]Process completed with exit code %d.", exit))
	}
	line("Post job cleanup.")
	line("[command]/usr/bin/git version")
	line("git version 2.52.0")
	line("Cleaning up orphan processes")
	return b.Bytes()
}
