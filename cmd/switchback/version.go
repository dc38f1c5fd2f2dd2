package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionJSON is what `version --json` prints. Other tools rely on its keys.
type versionJSON struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // that it was built from
	Modified bool   `json:"modified,omitempty"` // the checkout differed from the commit
	Built    string `json:"commit_time,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func versionCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what it was built from",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionOf(debug.ReadBuildInfo())
			if asJSON {
				return printJSON(s, v)
			}
			fmt.Fprintf(s.out, "switchback %s\n", v.Version)
			if v.Commit != "" {
				modified := ""
				if v.Modified {
					modified = ", modified"
				}
				fmt.Fprintf(s.out, "commit   %s (%s%s)\n", v.Commit, v.Built, modified)
			}
			fmt.Fprintf(s.out, "built by %s\nplatform %s/%s\n", v.Go, v.OS, v.Arch)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

// versionOf reads what the build noted.
func versionOf(bi *debug.BuildInfo, ok bool) versionJSON {
	v := versionJSON{Version: versionString(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if !ok {
		return v
	}
	for _, x := range bi.Settings {
		switch x.Key {
		case "vcs.revision":
			v.Commit = x.Value
		case "vcs.time":
			v.Built = x.Value
		case "vcs.modified":
			v.Modified = x.Value == "true"
		}
	}
	return v
}
