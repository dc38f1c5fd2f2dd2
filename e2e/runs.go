package e2e

import (
	"archive/zip"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Run is one attempt of a workflow run. AddRun fills in what is empty.
type Run struct {
	ID         int64
	Attempt    int
	Number     int
	Name       string // of the workflow
	Title      string // as its run-name makes it; default Name
	Path       string // of the workflow file; default from Name
	Unmerged   bool   // the workflow file is not on the default branch
	Event      string
	HeadSHA    string
	HeadBranch string
	HeadRepo   string // "owner/name"; another than the run's for a fork
	Status     string
	Conclusion string
	Actor      string
	Pulls      []int // as GitHub gives them: none for a fork
	Started    time.Time
	Ended      time.Time // default: a minute after Started
	Jobs       []Job
	Artifacts  []Artifact // of the run, whatever attempt

	repo string
}

// Job is a job of one attempt.
type Job struct {
	ID         int64
	Name       string
	Status     string
	Conclusion string
	Log        string
	NoLog      bool // answers 404, as for a job that never started
	Steps      []Step
}

// Step is a step of a job.
type Step struct {
	Name, Conclusion string
}

// Artifact is a zip of files.
type Artifact struct {
	ID      int64
	Name    string
	Files   map[string]string
	Zip     []byte // if given, sent instead of Files
	Expired bool   // answers 410
}

var notInPaths = regexp.MustCompile(`[^A-Za-z0-9]+`)

// workflowFile answers for a workflow that runs were added of and that is not in the repository, as
// the default branch would have it.
func (g *gaps) workflowFile(w http.ResponseWriter, r *http.Request) {
	buf := &answer{header: http.Header{}}
	g.forward(buf, r)
	if buf.status != http.StatusNotFound {
		buf.sendTo(w)
		return
	}
	file := ".github/workflows/" + r.PathValue("workflow")
	g.mu.Lock()
	var content string
	for _, run := range g.runs[repoName(r)] {
		if run.Path == file && !run.Unmerged {
			content = fmt.Sprintf("name: %q\non: push\n", run.Name)
		}
	}
	g.mu.Unlock()
	if content == "" {
		buf.sendTo(w)
		return
	}
	reply(w, http.StatusOK, map[string]any{"type": "file", "encoding": "base64", "size": len(content), "name": r.PathValue("workflow"), "path": file,
		"sha": fmt.Sprintf("%x", sha1.Sum([]byte(content))), "content": base64.StdEncoding.EncodeToString([]byte(content))})
}

func (g *gaps) addRun(repo string, run Run) *Run {
	g.mu.Lock()
	defer g.mu.Unlock()
	id := func(n int64) int64 {
		if n != 0 {
			return n
		}
		g.nextID++
		return g.nextID
	}
	run.repo, run.ID, run.Attempt, run.Number = repo, id(run.ID), max(1, run.Attempt), max(1, run.Number)
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	def(&run.Name, "CI")
	def(&run.Title, run.Name)
	def(&run.Path, ".github/workflows/"+strings.ToLower(notInPaths.ReplaceAllString(run.Name, "-"))+".yml")
	def(&run.Event, "pull_request")
	def(&run.HeadRepo, repo)
	def(&run.Status, "completed")
	def(&run.Actor, Owner)
	if run.Started.IsZero() {
		run.Started = time.Now().UTC().Truncate(time.Second)
	}
	run.Jobs, run.Artifacts = slices.Clone(run.Jobs), slices.Clone(run.Artifacts)
	for i := range run.Jobs {
		run.Jobs[i].ID = id(run.Jobs[i].ID)
		def(&run.Jobs[i].Status, run.Status)
		def(&run.Jobs[i].Conclusion, run.Conclusion)
	}
	for i := range run.Artifacts {
		run.Artifacts[i].ID = id(run.Artifacts[i].ID)
	}
	g.runs[repo] = append(g.runs[repo], &run)
	return &run
}

// setRun changes a run. Those who read it keep what they have.
func (g *gaps) setRun(repo string, id int64, change func(*Run)) *Run {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, run := range g.runs[repo] {
		if run.ID != id {
			continue
		}
		next := *run
		next.Jobs, next.Artifacts = slices.Clone(run.Jobs), slices.Clone(run.Artifacts)
		change(&next)
		for _, n := range [][]*int64{jobIDs(next.Jobs), artifactIDs(next.Artifacts)} {
			for _, at := range n {
				if *at == 0 {
					g.nextID++
					*at = g.nextID
				}
			}
		}
		for j := range next.Jobs {
			next.Jobs[j].Status = next.Status
			if next.Jobs[j].Conclusion == "" {
				next.Jobs[j].Conclusion = next.Conclusion
			}
		}
		g.runs[repo][i] = &next
		return &next
	}
	return nil
}

func jobIDs(jobs []Job) (out []*int64) {
	for i := range jobs {
		out = append(out, &jobs[i].ID)
	}
	return out
}

func artifactIDs(all []Artifact) (out []*int64) {
	for i := range all {
		out = append(out, &all[i].ID)
	}
	return out
}

func (g *gaps) attempts(repo string) []*Run {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.runs[repo])
}

// latest returns the last attempt of each run, the newest run first.
func (g *gaps) latest(repo string) []*Run {
	var out []*Run
	for _, run := range slices.Backward(g.attempts(repo)) {
		if i := slices.IndexFunc(out, func(o *Run) bool { return o.ID == run.ID }); i < 0 {
			out = append(out, run)
		} else if out[i].Attempt < run.Attempt {
			out[i] = run
		}
	}
	return out
}

type runHandler func(http.ResponseWriter, *http.Request, *Run)

// run finds the run and attempt of the path; others are passed on to emulate.
func (g *gaps) run(h runHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.ParseInt(r.PathValue("run"), 10, 64)
		attempt, _ := strconv.Atoi(r.PathValue("attempt"))
		list := g.latest(repoName(r))
		if attempt > 0 {
			list = g.attempts(repoName(r))
		}
		for _, run := range list {
			if run.ID == id && (attempt == 0 || run.Attempt == attempt) {
				h(w, r, run)
				return
			}
		}
		g.forward(w, r)
	}
}

func (g *gaps) job(h func(http.ResponseWriter, *http.Request, *Run, Job)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, run := range g.attempts(repoName(r)) {
			for _, j := range run.Jobs {
				if strconv.FormatInt(j.ID, 10) == r.PathValue("job") {
					h(w, r, run, j)
					return
				}
			}
		}
		g.forward(w, r)
	}
}

func (g *gaps) showRun(w http.ResponseWriter, _ *http.Request, run *Run) {
	reply(w, http.StatusOK, g.runJSON(run))
}

func (g *gaps) listRuns(w http.ResponseWriter, r *http.Request) {
	q, out := r.URL.Query(), []any{}
	is := func(key string, values ...string) bool {
		return q.Get(key) == "" || slices.Contains(values, q.Get(key))
	}
	for _, run := range g.latest(repoName(r)) {
		wf := r.PathValue("workflow")
		if is("head_sha", run.HeadSHA) && is("branch", run.HeadBranch) && is("event", run.Event) && is("actor", run.Actor) &&
			is("status", run.Status, run.Conclusion) && (wf == "" || strings.HasSuffix(run.Path, "/"+wf)) {
			out = append(out, g.runJSON(run))
		}
	}
	page, link := paginate(r, g.base, out)
	w.Header()["Link"] = link
	reply(w, http.StatusOK, map[string]any{"total_count": len(out), "workflow_runs": page})
}

func (g *gaps) listJobs(w http.ResponseWriter, r *http.Request, run *Run) {
	out := []any{}
	for _, a := range g.attempts(run.repo) {
		if a == run || a.ID == run.ID && r.URL.Query().Get("filter") == "all" {
			for _, j := range a.Jobs {
				out = append(out, g.jobJSON(a, j))
			}
		}
	}
	page, link := paginate(r, g.base, out)
	w.Header()["Link"] = link
	reply(w, http.StatusOK, map[string]any{"total_count": len(out), "jobs": page})
}

func (g *gaps) showJob(w http.ResponseWriter, _ *http.Request, run *Run, j Job) {
	reply(w, http.StatusOK, g.jobJSON(run, j))
}

func (g *gaps) jobLogs(w http.ResponseWriter, _ *http.Request, _ *Run, j Job) {
	if j.NoLog {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	g.redirect(w, "text/plain; charset=utf-8", []byte(j.Log))
}

func (g *gaps) runLogs(w http.ResponseWriter, _ *http.Request, run *Run) {
	files := map[string]string{}
	for i, j := range run.Jobs {
		files[fmt.Sprintf("%d_%s.txt", i, j.Name)] = j.Log
	}
	g.redirect(w, "application/zip", zipped(files))
}

func (g *gaps) rerun(kind string, status int) runHandler {
	return func(w http.ResponseWriter, r *http.Request, run *Run) {
		g.record(r, Dispatch{Kind: kind, Name: strconv.FormatInt(run.ID, 10), Ref: run.HeadBranch})
		reply(w, status, map[string]any{})
	}
}

func (g *gaps) rerunJob(w http.ResponseWriter, r *http.Request, run *Run, j Job) {
	g.record(r, Dispatch{Kind: "rerun-job", Name: strconv.FormatInt(j.ID, 10), Ref: run.HeadBranch})
	reply(w, http.StatusCreated, map[string]any{})
}

func (g *gaps) listArtifacts(w http.ResponseWriter, r *http.Request, run *Run) {
	g.replyArtifacts(w, r, func(o *Run) bool { return o.ID == run.ID })
}

func (g *gaps) listAllArtifacts(w http.ResponseWriter, r *http.Request) {
	g.replyArtifacts(w, r, func(*Run) bool { return true })
}

func (g *gaps) replyArtifacts(w http.ResponseWriter, r *http.Request, of func(*Run) bool) {
	out, name := []any{}, r.URL.Query().Get("name")
	for _, run := range g.attempts(repoName(r)) {
		for _, a := range run.Artifacts {
			if of(run) && (name == "" || a.Name == name) {
				out = append(out, g.artifactJSON(run, a))
			}
		}
	}
	page, link := paginate(r, g.base, out)
	w.Header()["Link"] = link
	reply(w, http.StatusOK, map[string]any{"total_count": len(out), "artifacts": page})
}

func (g *gaps) artifact(r *http.Request) (*Run, *Artifact) {
	for _, run := range g.attempts(repoName(r)) {
		for i := range run.Artifacts {
			if strconv.FormatInt(run.Artifacts[i].ID, 10) == r.PathValue("artifact") {
				return run, &run.Artifacts[i]
			}
		}
	}
	return nil, nil
}

func (g *gaps) showArtifact(w http.ResponseWriter, r *http.Request) {
	run, a := g.artifact(r)
	if a == nil {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	reply(w, http.StatusOK, g.artifactJSON(run, *a))
}

func (g *gaps) artifactZip(w http.ResponseWriter, r *http.Request) {
	_, a := g.artifact(r)
	switch {
	case a == nil:
		fail(w, http.StatusNotFound, "Not Found")
	case a.Expired:
		fail(w, http.StatusGone, "Artifact has expired")
	case a.Zip != nil:
		g.redirect(w, "application/zip", a.Zip)
	default:
		g.redirect(w, "application/zip", zipped(a.Files))
	}
}

func zipped(files map[string]string) []byte {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for name, text := range files {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			return nil // a buffer takes everything
		}
	}
	_ = z.Close()
	return buf.Bytes()
}

// paginate cuts the page asked for out of list and makes the Link header.
func paginate(r *http.Request, base string, list []any) (page []any, link []string) {
	q := r.URL.Query()
	n, _ := strconv.Atoi(q.Get("page"))
	per, _ := strconv.Atoi(q.Get("per_page"))
	n = max(1, n)
	if per < 1 {
		per = 30
	}
	per = min(per, 100)
	from := min((n-1)*per, len(list))
	to := min(from+per, len(list))
	if to < len(list) {
		q.Set("page", strconv.Itoa(n+1))
		link = []string{fmt.Sprintf(`<%s%s?%s>; rel="next"`, base, r.URL.Path, q.Encode())}
	}
	return list[from:to], link
}
