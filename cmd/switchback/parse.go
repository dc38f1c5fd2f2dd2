package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/ctrf"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/suggest"
	"github.com/switchback-ci/switchback/routing/testreport"
)

func parseCommand(s streams) *cobra.Command {
	var format, output string
	c := &cobra.Command{
		Use:   "parse [flags] FILE…|-",
		Short: "Read test output and print one CTRF document",
		Long: `Read test output in any known format and print one CTRF document (ctrf.io) on the standard output.

Exit codes: 0 parsed, 2 wrong usage, 3 an input is in no known format, or not in that of --format;
then nothing is printed on the standard output.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("the input is missing; name at least one file, or - for the standard input")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := oneOf("-o", output, "ctrf", "text"); err != nil {
				return err
			}
			if err := checkFormat(format); err != nil {
				return err
			}
			return runParse(s, format, output, args)
		},
	}
	c.Flags().StringVar(&format, "format", "auto", "the format of the input: auto, "+strings.Join(testreport.Names(), ", "))
	c.Flags().StringVarP(&output, "output", "o", "ctrf", "ctrf or text")
	return c
}

func runParse(s streams, format, output string, files []string) error {
	if err := exist(s, files); err != nil {
		return usage("%w", err)
	}
	w := ctrf.NewWriter(testreport.DefaultLimits().Failing)
	defer w.Close()
	col := testreport.NewCollector(testreport.Limits{})
	col.OnTest = w.Add
	var lines logLines
	var info testreport.Info
	for _, f := range distinct(files) {
		one, err := parseOne(s, format, f, col, &lines)
		if err != nil {
			return err
		}
		info.Lines, info.Bytes = info.Lines+one.Lines, info.Bytes+one.Bytes
		for _, n := range one.Formats {
			if !slices.Contains(info.Formats, n) {
				info.Formats = append(info.Formats, n)
			}
		}
	}
	rep := col.Finish(info)
	if output == "text" {
		return printReport(s, rep)
	}
	var d diagnosis.Diagnosis
	if len(rep.Failing)+len(rep.Problems) > 0 {
		d = diagnosis.Diagnose(rep, lines.col, diagnosis.Options{Brief: true})
	}
	return failedIf(w.Document(s.out, versionString(), rep, d.Failures))
}

// logLines creates its collector at the first line: a document has none, and compiling the rules
// takes longer than reading a small one.
type logLines struct{ col *diagnosis.Collector }

func (c *logLines) take(l testreport.Line) {
	if c.col == nil {
		c.col = diagnosis.NewCollector(nil)
	}
	c.col.Line(l)
}

func parseOne(s streams, format, name string, col *testreport.Collector, lines *logLines) (testreport.Info, error) {
	r, err := open(s, name)
	if err != nil {
		return testreport.Info{}, usage("%w", err)
	}
	defer r.Close()
	info, err := testreport.Read(r, testreport.Options{Format: format, OnLine: lines.take}, col)
	if err := ofFormat(s, format, name, info.Formats, err); err != nil {
		return info, err
	}
	switch {
	case errors.Is(err, testreport.ErrEmpty):
		return info, unreadable("%s: %w; look at what should have written it", sourceName(name), err)
	case errors.Is(err, testreport.ErrUnknownFormat):
		return info, unreadable("%s: %w; `switchback parse --help` lists the formats", sourceName(name), err)
	case err != nil:
		return info, unreadable("%s: %w", sourceName(name), err)
	}
	return info, nil
}

// checkFormat returns a usage error for a --format that does not exist.
func checkFormat(format string) error {
	if format == "auto" || slices.Contains(testreport.Names(), format) {
		return nil
	}
	if near, ok := suggest.Close(format, testreport.Names()); ok && likely(format, near) {
		return usage("--format is %q; did you mean %q? `switchback parse --help` lists all formats", format, near)
	}
	return usage("--format is %q; known are auto, %s", format, strings.Join(testreport.Names(), ", "))
}

// ofFormat refuses a file of another format than the one that was asked for. read are the formats that
// were read of it, and err is how reading it ended.
func ofFormat(s streams, format, name string, read []string, err error) error {
	bare := func(f string) string { return strings.TrimPrefix(f, "errorformat:") }
	is := func(f string) bool { return bare(f) == bare(format) }
	unknown := errors.Is(err, testreport.ErrUnknownFormat)
	if format == "auto" || slices.ContainsFunc(read, is) && !unknown || err != nil && !unknown {
		return nil
	}
	const looked = 1 << 20 // bytes
	text := fmt.Sprintf("%s is no %s", sourceName(name), format)
	if name == "-" {
		return unreadable("%s; leave out --format to have the format detected", text)
	}
	r, err := open(s, name)
	if err != nil {
		return usage("%w", err)
	}
	defer r.Close()
	rep, _ := testreport.Parse(io.LimitReader(r, looked), testreport.Options{})
	if rep == nil || len(rep.Formats) == 0 {
		return unreadable("%s, nor any other known test output; `switchback parse --help` lists the formats", text)
	}
	return unreadable("%s; it looks like %s: write --format %s, or leave --format out", text, strings.Join(rep.Formats, " and "), rep.Formats[0])
}

// printReport writes to a terminal, so that the text as a whole is made printable: no test's output
// may move the cursor.
func printReport(s streams, rep *testreport.Report) error {
	var b strings.Builder
	n := rep.Counts
	fmt.Fprintf(&b, "%s: %d tests, %d passed, %d failed, %d skipped", strings.Join(rep.Formats, "+"), n.Tests, n.Passed, n.Failed, n.Skipped)
	if n.Flaky > 0 {
		fmt.Fprintf(&b, ", %d flaky", n.Flaky)
	}
	b.WriteByte('\n')
	for _, t := range rep.Failing {
		fmt.Fprintf(&b, "FAIL %s%s\n", t.FullName(), place(t.File, t.Line))
		if t.Message != "" {
			fmt.Fprintf(&b, "     %s\n", strings.ReplaceAll(strings.TrimSpace(t.Message), "\n", "\n     "))
		}
	}
	for _, p := range rep.Problems {
		what := strings.TrimSpace(strings.ToUpper(string(p.Kind)) + " " + p.Name)
		fmt.Fprintf(&b, "%s%s: %s\n", what, place(p.File, p.Line), p.Message)
	}
	if _, err := io.WriteString(s.out, markdown.Printable(b.String())); err != nil {
		return failed(err)
	}
	for _, c := range rep.Cut {
		fmt.Fprintln(s.err, "note:", markdown.Printable(c))
	}
	return nil
}

func place(file string, line int) string {
	if file == "" {
		return ""
	}
	if line == 0 {
		return " (" + file + ")"
	}
	return fmt.Sprintf(" (%s:%d)", file, line)
}
