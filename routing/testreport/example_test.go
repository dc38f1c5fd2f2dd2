package testreport_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// The log of a step is read line by line; go test stands in it among other lines.
func Example() {
	log := `2026-01-02T03:04:05.0000000Z ##[group]Run go test ./...
2026-01-02T03:04:07.0000000Z --- FAIL: TestAdd (0.00s)
2026-01-02T03:04:07.0000000Z     add_test.go:7: Add(1, 2) = 4, want 3
2026-01-02T03:04:07.0000000Z FAIL
2026-01-02T03:04:07.0000000Z FAIL	example.com/sum	0.004s
2026-01-02T03:04:07.0000000Z ok  	example.com/text	0.002s
`
	report, err := testreport.Parse(strings.NewReader(log), testreport.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Formats, "green:", report.Green())
	for _, t := range report.Failing {
		fmt.Printf("%s at %s:%d (line %d of the log)\n", t.FullName(), t.File, t.Line, t.At)
		fmt.Printf("expected %s, got %s\n", t.Expected, t.Actual)
	}
	// Output:
	// [gotest] green: false
	// example.com/sum > TestAdd at add_test.go:7 (line 2 of the log)
	// expected 3, got 4
}

// What Read finds goes to a Sink as it is found; a Collector is one that keeps no passing tests.
func ExampleRead() {
	c := testreport.NewCollector(testreport.Limits{Text: 1 << 10})
	c.OnTest = func(t *testreport.Test) { fmt.Println(t.Status, t.FullName()) }
	xml := `<testsuite name="shop"><testcase name="pays"/><testcase name="ships"><failure message="no address"/></testcase></testsuite>`
	info, err := testreport.Read(strings.NewReader(xml), testreport.Options{}, c)
	if err != nil {
		fmt.Println(err)
		return
	}
	report := c.Finish(info)
	fmt.Println(report.Counts.Tests, "tests:", report.Failing[0].Message)
	// Output:
	// passed shop > pays
	// failed shop > ships
	// 2 tests: no address
}

func ExampleParse_unknown() {
	_, err := testreport.Parse(strings.NewReader("Hello\n"), testreport.Options{})
	fmt.Println(errors.Is(err, testreport.ErrUnknownFormat))
	// Output: true
}

// toy reads lines like "toy: adds ok" and "toy: adds FAILED: 4 is not 3".
type toy struct {
	out testreport.Sink
}

func (c *toy) Line(l testreport.Line) bool {
	name, found := strings.CutPrefix(l.Text, "toy: ")
	if !found {
		return false // not a line of this format
	}
	if passed, ok := strings.CutSuffix(name, " ok"); ok {
		c.out.Test(testreport.Test{Name: passed, Status: testreport.Passed, At: l.No})
		return true
	}
	name, message, found := strings.Cut(name, " FAILED: ")
	if found {
		c.out.Test(testreport.Test{Name: name, Status: testreport.Failed, Message: message, At: l.No})
	}
	return found
}

func (c *toy) End() {}

// A console format sees the lines of every log, so it claims only what is certainly its own.
func ExampleRegister() {
	testreport.Register(testreport.Format{
		Name:    "toy",
		Begins:  "t", // lines that begin otherwise are not shown to it
		Console: func(out testreport.Sink, _ testreport.Limits) testreport.Console { return &toy{out} },
	})
	log := "building\ntoy: adds ok\ntoy: divides FAILED: 4 is not 3\n"
	report, err := testreport.Parse(strings.NewReader(log), testreport.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Formats, report.Counts.Tests)
	fmt.Println(report.Failing[0].Name, report.Failing[0].Message)
	// Output:
	// [toy] 2
	// divides 4 is not 3
}

// A document format says how sure it is of the first bytes of an input, and reads it to its end.
func ExampleRegister_document() {
	testreport.Register(testreport.Format{
		Name: "toy-csv",
		Detect: func(head []byte) int {
			if bytes.HasPrefix(head, []byte("test,result\n")) {
				return 90
			}
			return 0
		},
		Document: func(d *testreport.Document) error {
			for {
				line, err := d.Reader.ReadString('\n')
				if name, result, ok := strings.Cut(strings.TrimSpace(line), ","); ok && result != "result" {
					status := testreport.Failed
					if result == "pass" {
						status = testreport.Passed
					}
					d.Out.Test(testreport.Test{Name: name, Status: status})
				}
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
			}
		},
	})
	report, err := testreport.Parse(strings.NewReader("test,result\nadds,pass\ndivides,fail\n"), testreport.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Formats, report.Counts.Passed, report.Counts.Failed)
	// Output: [toy-csv] 1 1
}
