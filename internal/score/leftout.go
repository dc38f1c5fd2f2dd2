package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/switchback-ci/switchback/internal/labelled"
	"github.com/switchback-ci/switchback/internal/train/learn"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/diagnosis/rank"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// leaveOut prints how right the diagnosis of logs is, for each set as it is, and
// with the set left out: without what was learned from it, and without the alternatives of rules
// that match nothing in another set. EXPLAIN=set,set prints what is wrong with these left out.
func leaveOut(w io.Writer, logs []labelled.Log) error {
	inSample, leftOut := newTable(), newTable()
	if err := inSample.add(logs, diagnosis.Default()); err != nil {
		return err
	}
	leftOut.explain = strings.Split(os.Getenv("EXPLAIN"), ",")
	if err := leftOut.measure(logs, learn.DefaultOptions, func(set string) string { return set }); err != nil {
		return err
	}
	printTables(w, inSample, leftOut)
	return nil
}

// measure diagnoses each set without what is known from it: the alternatives of rules that match
// in it alone, and what the weights were learned from. The sets of one fold are left out of the
// learning together, which knows less rather than more and takes less time.
func (t *table) measure(logs []labelled.Log, opt learn.Options, fold func(set string) string) error {
	study, err := learn.NewStudy(logs)
	if err != nil {
		return err
	}
	weights := map[string]rank.Weights{}
	for _, l := range logs {
		f := fold(l.Set)
		if _, ok := weights[f]; ok {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(study.Examples), func(e learn.Example) bool { return fold(e.Set) == f })
		weights[f] = learn.Weights(others, opt)
	}
	for _, l := range logs {
		if err := t.add([]labelled.Log{l}, study.Without(l.Set, weights[fold(l.Set)])); err != nil {
			return err
		}
	}
	return nil
}

// table holds the results of all sets.
type table struct {
	sets  map[string]*tally
	all   tally
	class map[routing.Class]*byClass

	explain []string // sets whose wrong answers are printed
}

func newTable() *table {
	return &table{sets: map[string]*tally{}, class: map[routing.Class]*byClass{}}
}

// tally counts what is right.
type tally struct {
	lines, hit1, hit3        int // logs whose lines are known
	classes, strict, lenient int // logs whose class is known
	right, wrong, missing    int // names
}

// byClass counts a class: truth and answers. An answer that the truth allows is not wrong.
type byClass struct{ truth, found, answered, correct int }

func (t *table) add(set []labelled.Log, rules *diagnosis.Rules) error {
	for _, l := range set {
		d, rep, err := learn.Diagnose(l, rules)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", l.Set, l.File, err)
		}
		number, err := l.Numbers()
		if err != nil {
			return err
		}
		if t.sets[l.Set] == nil {
			t.sets[l.Set] = &tally{}
		}
		for _, sum := range []*tally{t.sets[l.Set], &t.all} {
			sum.count(l.Truth, d, rep, number)
		}
		if l.Truth.Class != "" {
			t.countClass(l.Truth, d.Class)
		}
		if slices.Contains(t.explain, l.Set) {
			explain(l, d, number)
		}
	}
	return nil
}

func (s *tally) count(t labelled.Truth, d diagnosis.Diagnosis, rep *testreport.Report, number func(int) int) {
	if t.HasLines() {
		s.lines++
		hits := func(n int) bool {
			return slices.ContainsFunc(d.ErrorLines[:min(n, len(d.ErrorLines))], func(l diagnosis.Line) bool {
				return t.Line(number(l.Line), l.Text)
			})
		}
		s.hit1 += one(hits(1))
		s.hit3 += one(hits(3))
	}
	if t.Class != "" {
		strict, lenient := t.ClassIs(d.Class)
		s.classes++
		s.strict += one(strict)
		s.lenient += one(lenient)
	}
	if t.FailingTests != nil {
		right, wrong, missing := t.Names(failingNames(rep))
		s.right, s.wrong, s.missing = s.right+right, s.wrong+wrong, s.missing+missing
	}
}

// explain prints a diagnosis that is wrong.
func explain(l labelled.Log, d diagnosis.Diagnosis, number func(int) int) {
	strict, lenient := l.Truth.ClassIs(d.Class)
	wrong := l.Truth.Class != "" && !lenient
	lines := d.ErrorLines[:min(1, len(d.ErrorLines))]
	missed := l.Truth.HasLines() && !slices.ContainsFunc(lines, func(x diagnosis.Line) bool { return l.Truth.Line(number(x.Line), x.Text) })
	if !wrong && !missed {
		return
	}
	fmt.Printf("%s/%s: class %s, truth %s %v (%v), line missed %v: %s\n", l.Set, l.File, d.Class, l.Truth.Class, l.Truth.ClassAlt, strict, missed, d.Reason)
	for _, x := range lines {
		fmt.Printf("\t%d: %.160s\n", number(x.Line), x.Text)
	}
}

func one(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

func (t *table) countClass(truth labelled.Truth, answer routing.Class) {
	strict, lenient := truth.ClassIs(answer)
	t.of(truth.Class).truth++
	t.of(truth.Class).found += one(strict || lenient && answer != "")
	t.of(answer).answered++
	t.of(answer).correct += one(lenient)
}

func (t *table) of(c routing.Class) *byClass {
	if t.class[c] == nil {
		t.class[c] = &byClass{}
	}
	return t.class[c]
}

func (s *tally) f1() string {
	if s.right+s.wrong+s.missing == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", 2*float64(s.right)/float64(2*s.right+s.wrong+s.missing))
}

func share(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(n)/float64(of))
}

func printTables(out io.Writer, in, left *table) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "in sample | left out\tlogs\thit@1\thit@3\tclasses\tlenient\tstrict\tnames F1")
	row := func(name string, a, b *tally) {
		both := func(x, y string) string { return x + " | " + y }
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%s\t%s\t%s\n", name,
			a.lines, both(share(a.hit1, a.lines), share(b.hit1, b.lines)), both(share(a.hit3, a.lines), share(b.hit3, b.lines)),
			a.classes, both(share(a.lenient, a.classes), share(b.lenient, b.classes)), both(share(a.strict, a.classes), share(b.strict, b.classes)),
			both(a.f1(), b.f1()))
	}
	for _, name := range slices.Sorted(maps.Keys(in.sets)) {
		row(name, in.sets[name], left.sets[name])
	}
	row("all", &in.all, &left.all)
	fmt.Fprintln(w, "\nclass\ttruth\tanswered\tprecision\trecall")
	for _, c := range append(routing.Classes(), "") {
		a, b := in.of(c), left.of(c)
		if a.truth+a.answered+b.answered == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%d | %d\t%s | %s\t%s | %s\n", c, a.truth, a.answered, b.answered,
			share(a.correct, a.answered), share(b.correct, b.answered), share(a.found, a.truth), share(b.found, b.truth))
	}
	_ = w.Flush()
}
