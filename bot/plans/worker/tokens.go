package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// mostTokensRead bounds how much of a worker's file is read, in bytes.
const mostTokensRead = 1 << 20

// readTokens returns what a worker says it has used: the sum over the lines of
// its file. A line is a number, or JSON with total_tokens or tokens_used, or with
// input_tokens and output_tokens. A file that is not there is 0; what cannot be
// read is an error, with the sum of what can.
func readTokens(path string) (int64, error) {
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return sumTokens(io.LimitReader(f, mostTokensRead))
}

func sumTokens(r io.Reader) (int64, error) {
	var sum int64
	var first error
	sc := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, end := sc.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			v, err := oneTokens(line)
			if err != nil && first == nil {
				first = fmt.Errorf("line %d of the tokens file is %.60q: %w", n, line, err)
			}
			sum = plus(sum, v)
		}
		if end != nil {
			return sum, first
		}
	}
}

var errTokens = errors.New("write a whole number from 0, or JSON with total_tokens, or with input_tokens and output_tokens")

func oneTokens(line string) (int64, error) {
	if v, err := strconv.ParseInt(line, 10, 64); err == nil && v >= 0 {
		return v, nil
	}
	var in struct {
		Total  *int64 `json:"total_tokens"`
		Used   *int64 `json:"tokens_used"`
		Input  *int64 `json:"input_tokens"`
		Output *int64 `json:"output_tokens"`
	}
	if err := json.Unmarshal([]byte(line), &in); err != nil {
		return 0, errTokens
	}
	for _, v := range []*int64{in.Total, in.Used, in.Input, in.Output} {
		if v != nil && *v < 0 {
			return 0, errTokens
		}
	}
	switch {
	case in.Total != nil:
		return *in.Total, nil
	case in.Used != nil:
		return *in.Used, nil
	case in.Input != nil || in.Output != nil:
		return plus(orZero(in.Input), orZero(in.Output)), nil
	}
	return 0, errTokens
}

func orZero(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// plus adds without going over.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
