package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/internal/corpus/recording"
)

// record runs the scripts of tools ("NAME" or "NAME@VERSION"; all without any)
// and replaces their recordings. Tools are installed below cache and stay there.
func record(dir, cache string, tools []string) error {
	if len(tools) == 0 {
		all, err := os.ReadDir(filepath.Join(dir, "tools"))
		if err != nil {
			return err
		}
		for _, t := range all {
			if t.IsDir() {
				tools = append(tools, t.Name())
			}
		}
	}
	var errs []error
	for _, t := range tools {
		name, only, _ := strings.Cut(t, "@")
		versions, err := readVersions(filepath.Join(dir, "tools", name, "versions"))
		if err != nil {
			return err
		}
		if only != "" && !slices.Contains(versions, only) {
			return fmt.Errorf("%s has the versions %s, not %s", name, strings.Join(versions, ", "), only)
		}
		for _, v := range versions {
			if only != "" && only != v {
				continue
			}
			n, err := recordVersion(dir, cache, name, v)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s %s: %w", name, v, err))
				continue
			}
			fmt.Printf("%s %s: %d recordings\n", name, v, n)
		}
	}
	return errors.Join(errs...)
}

// readVersions reads a file of one version a line; # begins a comment.
func readVersions(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []string
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line, _, _ := strings.Cut(sc.Text(), "#")
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out, sc.Err()
}

func recordVersion(dir, cache, tool, version string) (int, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	if cache, err = filepath.Abs(filepath.Join(cache, tool, version)); err != nil {
		return 0, err
	}
	temp, err := os.MkdirTemp("", "corpus-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(temp)
	project, out := filepath.Join(temp, "project"), filepath.Join(temp, "out")
	from := filepath.Join(dir, "tools", tool)
	for _, d := range []string{cache, project, out} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return 0, err
		}
	}
	if _, err := os.Stat(filepath.Join(from, "project")); err == nil {
		if err := os.CopyFS(project, os.DirFS(filepath.Join(from, "project"))); err != nil {
			return 0, err
		}
	}
	cmd := exec.Command("bash", filepath.Join(from, "record.sh"), version, out)
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "CACHE="+cache, "LIB="+filepath.Join(dir, "lib.sh"), "REPO="+filepath.Dir(filepath.Dir(dir)),
		"CI=true", "TERM=dumb", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC", "OUTDIR="+out)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("record.sh: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return 0, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return 0, err
	}
	runs, err := readRuns(filepath.Join(out, "runs"))
	if err != nil {
		return 0, err
	}
	return len(runs), keep(filepath.Join(dir, "recordings", tool, version), out, runs, neutral{dir: project, cache: cache, host: host, home: home})
}

// readRuns reads what lib.sh wrote of each run: id, exit code, console or
// report, and the command (\x1e between its lines), with tabs between.
func readRuns(name string) ([]recording.Run, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out []recording.Run
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 4)
		if len(f) != 4 {
			return nil, fmt.Errorf("%q is not id, exit code, kind, command", line)
		}
		exit, err := strconv.Atoi(f[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f[0], err)
		}
		out = append(out, recording.Run{ID: f[0], Exit: exit, Report: f[2] == "report", Command: strings.ReplaceAll(f[3], "\x1e", "\n")})
	}
	slices.SortStableFunc(out, func(a, b recording.Run) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(out); i++ {
		if out[i].ID == out[i-1].ID {
			return nil, fmt.Errorf("%s is recorded twice", out[i].ID)
		}
	}
	return out, nil
}

// keep writes the outputs of one version, packed, and their index in place of
// what was there; where only some cases were recorded, in place of theirs.
func keep(to, out string, runs []recording.Run, n neutral) error {
	var others []recording.Run
	if os.Getenv("CASES") != "" {
		data, err := os.ReadFile(filepath.Join(to, "index.json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &others); err != nil {
			return err
		}
		others = slices.DeleteFunc(others, func(o recording.Run) bool {
			return slices.ContainsFunc(runs, func(r recording.Run) bool { return r.ID == o.ID })
		})
	} else if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for i := range runs {
		text, err := os.ReadFile(filepath.Join(out, runs[i].ID+".txt"))
		if err != nil {
			return err
		}
		packed, err := recording.Pack(n.clean(text))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, runs[i].ID+".txt.gz"), packed, 0o644); err != nil {
			return err
		}
		runs[i].Command = string(n.clean([]byte(runs[i].Command)))
	}
	runs = append(runs, others...)
	slices.SortFunc(runs, func(a, b recording.Run) int { return strings.Compare(a.ID, b.ID) })
	index, err := json.MarshalIndent(runs, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "index.json"), append(index, '\n'), 0o644)
}
