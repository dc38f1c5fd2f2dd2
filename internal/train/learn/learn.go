// Package learn finds the weights of the features of lines: those with which the lines that state
// why a run failed have the highest scores of their logs. It is deterministic.
package learn

import (
	"errors"
	"math"

	"github.com/switchback-ci/switchback/internal/labelled"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/diagnosis/rank"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// Example is a log as its candidates, of which some are right.
type Example struct {
	Set    string
	Lines  [][]entry // the features of each that are not 0
	Right  []bool
	Weight float64
}

type entry struct {
	feature rank.Feature
	value   float64
}

func entries(v rank.Vector) []entry {
	var out []entry
	for f, x := range v {
		if x != 0 {
			out = append(out, entry{rank.Feature(f), float64(x)})
		}
	}
	return out
}

// example returns the log as the candidates that were ranked when it was diagnosed.
func example(l labelled.Log, candidates []diagnosis.Candidate) (Example, error) {
	e := Example{Set: l.Set}
	number, err := l.Numbers()
	if err != nil {
		return e, err
	}
	for _, c := range candidates {
		e.Lines = append(e.Lines, entries(c.Features))
		e.Right = append(e.Right, l.Truth.Line(number(c.Line.Line), c.Text))
	}
	return e, nil
}

// Diagnose diagnoses a log as the command does that is given nothing else.
func Diagnose(l labelled.Log, rules *diagnosis.Rules) (diagnosis.Diagnosis, *testreport.Report, error) {
	r, err := l.Open()
	if err != nil {
		return diagnosis.Diagnosis{}, nil, err
	}
	defer r.Close()
	col := diagnosis.NewCollector(rules)
	rep, err := testreport.Parse(r, testreport.Options{OnLine: col.Line})
	if err != nil && !errors.Is(err, testreport.ErrUnknownFormat) && !errors.Is(err, testreport.ErrEmpty) {
		return diagnosis.Diagnosis{}, nil, err
	}
	return diagnosis.Diagnose(rep, col, diagnosis.Options{}), rep, nil
}

func (e Example) teaches() bool {
	right := 0
	for _, r := range e.Right {
		if r {
			right++
		}
	}
	return right > 0 && right < len(e.Right)
}

// Options of learning.
type Options struct {
	Steps  int     // of gradient descent
	Rate   float64 // of each step
	Shrink float64 // how strongly weights are kept near the prior
}

// DefaultOptions are those of `make train`.
var DefaultOptions = Options{Steps: 400, Rate: 0.3, Shrink: 0.02}

// Weights maximizes the probability that a line drawn by its score is a right one (a conditional
// logit), by gradient descent from the prior.
func Weights(examples []Example, opt Options) rank.Weights {
	prior := rank.Prior()
	w := prior
	var total float64
	for _, e := range examples {
		total += e.Weight
	}
	if total == 0 {
		return w
	}
	for range opt.Steps {
		var gradient [rank.Features]float64
		for _, e := range examples {
			e.gradient(&w, &gradient)
		}
		for f := range w {
			step := gradient[f]/total - opt.Shrink*float64(w[f]-prior[f])
			w[f] += float32(opt.Rate * step)
		}
	}
	for f := range w {
		w[f] = float32(math.Round(float64(w[f])*1000) / 1000)
	}
	return w
}

// gradient adds that of the logarithm of the probability of a right line.
func (e Example) gradient(w *rank.Weights, out *[rank.Features]float64) {
	p := make([]float64, len(e.Lines))
	top := math.Inf(-1)
	for i, line := range e.Lines {
		for _, x := range line {
			p[i] += x.value * float64(w[x.feature])
		}
		top = math.Max(top, p[i])
	}
	var all, right float64
	for i := range p {
		p[i] = math.Exp(p[i] - top)
		all += p[i]
		if e.Right[i] {
			right += p[i]
		}
	}
	if right == 0 {
		right = 1e-300
	}
	for i := range e.Lines {
		share := -p[i] / all
		if e.Right[i] {
			share += p[i] / right
		}
		if share *= e.Weight; share == 0 {
			continue
		}
		for _, x := range e.Lines[i] {
			out[x.feature] += share * x.value
		}
	}
}
