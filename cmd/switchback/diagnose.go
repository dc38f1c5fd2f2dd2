package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// diagnosisJSON is what `diagnose -o json` prints. Other tools rely on its keys.
type diagnosisJSON struct {
	Verdict      routing.Result     `json:"verdict"`
	Class        routing.Class      `json:"class"`
	Reason       string             `json:"reason"`
	Evidence     []routing.Evidence `json:"evidence"`
	ErrorLines   []diagnosis.Line   `json:"error_lines"`
	FailingTests []failingTest      `json:"failing_tests"`
	Counts       counts             `json:"counts"`
	Notes        []string           `json:"notes,omitempty"`
}

type failingTest struct {
	Name        string        `json:"name"`
	Suite       string        `json:"suite"`
	File        string        `json:"file"`
	Line        int           `json:"line"`
	Class       routing.Class `json:"class"`
	Message     string        `json:"message"`
	Fingerprint string        `json:"fingerprint"`
}

type counts struct {
	Tests   int `json:"tests"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

func diagnoseCommand(s streams) *cobra.Command {
	var output, conclusion, cfg, format, baseline string
	var exitCode bool
	c := &cobra.Command{
		Use:   "diagnose [flags] FILE…|-",
		Short: "Diagnose why a run failed",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("the input is missing; name at least one file, or - for the standard input")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := oneOf("-o", output, "json", "text"); err != nil {
				return err
			}
			if err := checkConclusion(conclusion); err != nil {
				return err
			}
			if err := checkFormat(format); err != nil {
				return err
			}
			if err := exist(s, args); err != nil {
				return usage("%w", err)
			}
			f, err := readConfig(cfg)
			if err != nil {
				return err
			}
			rules, err := analysis.Rules(f)
			if err != nil {
				return failed(err)
			}
			var known func() *diagnosis.Baseline
			if baseline != "" {
				if err := exist(s, []string{baseline}); err != nil {
					return usage("--baseline: %w", err)
				}
				known = func() *diagnosis.Baseline { return analysis.ReadBaseline(sources(s, []string{baseline})[0].Open) }
			}
			out, err := analysis.Analyze(analysis.Input{Baseline: known, Sources: sources(s, args), Conclusion: conclusion, Format: format, Rules: rules, Criteria: f.Criteria, Language: f.Language, FailOn: f.Policy("", "", nil).FailOn})
			if err != nil {
				return usage("%w", err)
			}
			if out.Verdict.Counts.Tests == 0 && len(out.Verdict.Failures) == 0 {
				if err := checkReadAs(s, format, args); err != nil {
					return err
				}
			}
			if err := printDiagnosis(s, output, out); err != nil || !exitCode || out.Verdict.Result == routing.Pass {
				return err
			}
			return &exitError{code: 1}
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "json", "json or text")
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 unless the run passed")
	c.Flags().StringVar(&conclusion, "conclusion", "", "the run's conclusion as GitHub names it, if it is known")
	c.Flags().StringVar(&cfg, "config", "", "a configuration file with rules of its own")
	c.Flags().StringVar(&format, "format", "auto", "the format of the input; see switchback parse --help")
	c.Flags().StringVar(&baseline, "baseline", "", "the log of a run of the same job that passed, a `FILE`: lines that it has too rank lower")
	return c
}

// checkReadAs refuses files of another format than the one that was asked for.
func checkReadAs(s streams, format string, files []string) error {
	if format == "auto" {
		return nil
	}
	for _, f := range files {
		if f == "-" {
			continue // it has been read
		}
		r, err := open(s, f)
		if err != nil {
			return usage("%w", err)
		}
		info, err := testreport.Read(r, testreport.Options{Format: format}, testreport.NewCollector(testreport.Limits{}))
		_ = r.Close()
		if err := ofFormat(s, format, f, info.Formats, err); err != nil {
			return err
		}
	}
	return nil
}

func printDiagnosis(s streams, output string, o analysis.Output) error {
	v := o.Verdict
	d := diagnosisJSON{
		Verdict: v.Result, Class: v.Class, Reason: v.Reason, Evidence: v.Evidence, ErrorLines: o.Diagnosis.ErrorLines, Notes: v.Notes,
		Counts: counts{v.Counts.Tests, v.Counts.Passed, v.Counts.Failed, v.Counts.Skipped},
	}
	if d.Evidence == nil {
		d.Evidence = []routing.Evidence{}
	}
	if d.ErrorLines == nil {
		d.ErrorLines = []diagnosis.Line{}
	}
	for i := range d.ErrorLines {
		d.ErrorLines[i].Text = redact.Text(d.ErrorLines[i].Text)
	}
	d.FailingTests = []failingTest{}
	for _, f := range failingOf(o) {
		d.FailingTests = append(d.FailingTests, failingTest{f.Name, f.Suite, f.File, f.Line, f.Class, f.Message, f.Fingerprint})
	}
	if output == "json" {
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(d); err != nil {
			return failed(err)
		}
		return nil
	}
	if _, err := io.WriteString(s.out, markdown.Printable(diagnosisText(d))); err != nil {
		return failed(err)
	}
	for _, n := range d.Notes {
		fmt.Fprintln(s.err, "note:", markdown.Printable(n))
	}
	return nil
}

func diagnosisText(d diagnosisJSON) string {
	var b strings.Builder
	b.WriteString(string(d.Verdict))
	if d.Class != "" {
		fmt.Fprintf(&b, " %s", d.Class)
	}
	fmt.Fprintf(&b, ": %s\n", strings.TrimPrefix(d.Reason, string(d.Class)+": "))
	for _, e := range d.Evidence {
		if e.Line > 0 {
			fmt.Fprintf(&b, "  line %d: %s  [%s]\n", e.Line, e.Text, e.Signal)
		}
	}
	for _, f := range d.FailingTests {
		fmt.Fprintf(&b, "  %s %s%s\n", f.Class, joined(f.Suite, f.Name), place(f.File, f.Line))
	}
	return b.String()
}

// failingOf returns the failures that are tests: not diagnostics, problems or lines of a log.
func failingOf(o analysis.Output) []routing.Failure {
	var out []routing.Failure
	for _, f := range o.Verdict.Failures {
		if f.Kind != "diagnostic" && f.Kind != "problem" && f.Kind != "log" {
			out = append(out, f)
		}
	}
	return out
}

func joined(suite, name string) string {
	if suite == "" {
		return name
	}
	return suite + " > " + name
}

// readConfig reads a configuration file; "" is the default configuration.
func readConfig(name string) (config.File, error) {
	if name == "" {
		return config.File{}, nil
	}
	return loadConfig(name)
}
