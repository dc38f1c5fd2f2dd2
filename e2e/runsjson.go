package e2e

import (
	"fmt"
	"net/http"
	"time"
)

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// ended is when a run was last updated: a minute after it began, if it does not say.
func (r *Run) ended() time.Time {
	if r.Ended.IsZero() {
		return r.Started.Add(time.Minute)
	}
	return r.Ended
}

// runJSON is a run as the API and the workflow_run event give it.
func (g *gaps) runJSON(run *Run) map[string]any {
	var repo, head, actor map[string]any
	g.ask("/repos/"+run.repo, &repo)
	if g.ask("/repos/"+run.HeadRepo, &head) != http.StatusOK {
		head = nil // the fork is gone
	}
	g.ask("/users/"+run.Actor, &actor)
	at := fmt.Sprintf("%s/repos/%s/actions/runs/%d", g.base, run.repo, run.ID)
	pulls := []any{}
	for _, n := range run.Pulls {
		side := func(ref, sha string) any {
			return map[string]any{"ref": ref, "sha": sha, "repo": map[string]any{"id": repo["id"], "name": repo["name"], "url": repo["url"]}}
		}
		pulls = append(pulls, map[string]any{"id": n, "number": n, "url": fmt.Sprintf("%s/repos/%s/pulls/%d", g.base, run.repo, n),
			"head": side(run.HeadBranch, run.HeadSHA), "base": side("main", "")})
	}
	var conclusion any
	if run.Status == "completed" {
		conclusion = orNil(run.Conclusion)
	}
	wf := int64(0)
	for _, c := range run.Path {
		wf = (wf*31 + int64(c)) % 1_000_003
	}
	return map[string]any{
		"id": run.ID, "name": run.Name, "node_id": fmt.Sprint("WFR_", run.ID), "head_branch": orNil(run.HeadBranch), "head_sha": run.HeadSHA,
		"path": run.Path, "display_title": run.Title, "run_number": run.Number, "run_attempt": run.Attempt, "event": run.Event,
		"status": run.Status, "conclusion": conclusion, "workflow_id": wf, "check_suite_id": run.ID + 1, "check_suite_node_id": "CS",
		"url": at, "html_url": fmt.Sprintf("%s/%s/actions/runs/%d", g.base, run.repo, run.ID), "pull_requests": pulls,
		"created_at": stamp(run.Started), "updated_at": stamp(run.ended()), "run_started_at": stamp(run.Started),
		"actor": actor, "triggering_actor": actor, "jobs_url": at + "/jobs", "logs_url": at + "/logs", "artifacts_url": at + "/artifacts",
		"check_suite_url": fmt.Sprintf("%s/repos/%s/check-suites/%d", g.base, run.repo, run.ID+1), "cancel_url": at + "/cancel", "rerun_url": at + "/rerun",
		"previous_attempt_url": nil, "workflow_url": fmt.Sprintf("%s/repos/%s/actions/workflows/%d", g.base, run.repo, wf),
		"head_commit": map[string]any{"id": run.HeadSHA, "tree_id": run.HeadSHA, "message": "commit", "timestamp": stamp(run.Started),
			"author": map[string]any{"name": run.Actor, "email": run.Actor + "@example.com"}, "committer": map[string]any{"name": run.Actor, "email": run.Actor + "@example.com"}},
		"repository": repo, "head_repository": head, "referenced_workflows": []any{},
	}
}

func (g *gaps) jobJSON(run *Run, j Job) map[string]any {
	steps := []any{}
	for i, s := range j.Steps {
		steps = append(steps, map[string]any{"name": s.Name, "status": "completed", "conclusion": orNil(s.Conclusion), "number": i + 1,
			"started_at": stamp(run.Started), "completed_at": stamp(run.Started)})
	}
	at := fmt.Sprintf("%s/repos/%s/actions/", g.base, run.repo)
	var conclusion, completed any
	if j.Status == "completed" {
		conclusion, completed = orNil(j.Conclusion), stamp(run.Started.Add(time.Minute))
	}
	return map[string]any{
		"id": j.ID, "run_id": run.ID, "run_attempt": run.Attempt, "workflow_name": run.Name, "head_branch": orNil(run.HeadBranch), "head_sha": run.HeadSHA,
		"run_url": fmt.Sprint(at, "runs/", run.ID), "node_id": fmt.Sprint("CR_", j.ID), "url": fmt.Sprint(at, "jobs/", j.ID),
		"html_url": fmt.Sprintf("%s/%s/actions/runs/%d/job/%d", g.base, run.repo, run.ID, j.ID), "status": j.Status, "conclusion": conclusion,
		"created_at": stamp(run.Started), "started_at": stamp(run.Started), "completed_at": completed, "name": j.Name, "steps": steps,
		"check_run_url": fmt.Sprintf("%s/repos/%s/check-runs/%d", g.base, run.repo, j.ID), "labels": []string{"ubuntu-latest"},
		"runner_id": 1, "runner_name": "GitHub Actions 1", "runner_group_id": 1, "runner_group_name": "GitHub Actions",
	}
}

func (g *gaps) artifactJSON(run *Run, a Artifact) map[string]any {
	at := fmt.Sprintf("%s/repos/%s/actions/artifacts/%d", g.base, run.repo, a.ID)
	data := a.Zip
	if data == nil {
		data = zipped(a.Files)
	}
	return map[string]any{
		"id": a.ID, "node_id": fmt.Sprint("ART_", a.ID), "name": a.Name, "size_in_bytes": len(data), "url": at, "archive_download_url": at + "/zip",
		"expired": a.Expired, "created_at": stamp(run.Started), "updated_at": stamp(run.Started), "expires_at": stamp(run.Started.AddDate(0, 3, 0)),
		"workflow_run": map[string]any{"id": run.ID, "repository_id": 1, "head_repository_id": 1, "head_branch": run.HeadBranch, "head_sha": run.HeadSHA},
	}
}
