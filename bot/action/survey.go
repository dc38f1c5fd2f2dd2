package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/routing/survey"
)

// largestResult bounds what is read of a result.
const largestResult = 2 << 20

// openSurvey asks people about the result that the input names, once its report can be read.
func (s *step) openSurvey(ctx context.Context) (int, error) {
	if s.in.Result == "" {
		return 2, errors.New("input result is missing; give the path of the result's JSON file")
	}
	res, err := ReadResult(s.path(s.in.Result), s.Getenv("GITHUB_WORKSPACE"))
	if err != nil {
		return 2, err
	}
	if res.RunID == "" {
		res.RunID = s.Getenv("GITHUB_RUN_ID")
	}
	p, err := handler.Surveys(s.deps).Open(ctx, res)
	if err != nil {
		return 1, err
	}
	if p.Number == 0 {
		s.notice("survey %s is being opened by another run", p.ID)
	} else {
		s.notice("survey %s asks for feedback in issue #%d %s", p.ID, p.Number, p.URL)
	}
	return 0, s.reporter.WriteGoals(p)
}

// ReadResult reads the result in a file, and checks that its report exists below root, "" for the
// working directory: people are asked about something that they can read.
func ReadResult(file, root string) (survey.Result, error) {
	r, err := os.Open(file)
	if err != nil {
		return survey.Result{}, fmt.Errorf("the result: %w", err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, largestResult))
	if err != nil {
		return survey.Result{}, fmt.Errorf("the result: %w", err)
	}
	res, err := survey.ParseResult(file, data)
	if err != nil {
		return res, err
	}
	if root == "" {
		root = "."
	}
	below, err := os.OpenRoot(root)
	if err != nil {
		return res, err
	}
	defer below.Close()
	if st, err := below.Stat(filepath.FromSlash(res.ReportPath)); err != nil || st.IsDir() {
		return res, &survey.FieldError{File: file, Key: "report_path", Problem: fmt.Sprintf("there is no file %q below %s; write the report first, people are asked about it", res.ReportPath, root)}
	}
	return res, nil
}
