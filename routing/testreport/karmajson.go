package testreport

import "strings"

// karmaJSONFormat reads what karma-json-reporter writes.
var karmaJSONFormat = format{
	name:  "karma-json",
	order: 270,
	opens: []string{"browsers", "result", "summary"}, document: readKarmaJSON, leaves: true,
	detect: detectJSON(`"browsers"`, func(h jsonHead) bool {
		return h.has("browsers") && h.any("result", "summary", "browsers") && karmaBrowsers(h)
	}),
}

// karmaBrowsers looks for what karma states of each browser.
func karmaBrowsers(h jsonHead) bool {
	for p := range h {
		if strings.HasPrefix(p, "browsers.") && strings.HasSuffix(p, ".lastResult") || strings.HasPrefix(p, "summary.disconnected") {
			return true
		}
	}
	return false
}

func readKarmaJSON(d *document) error {
	return readJSON(d, "karma-json", func(r *jsonReader) bool {
		at := r.at()
		var known, broken, disconnected bool
		n := tallied(d)
		failed, passed, declared, exit := 0, 0, 0, 0
		whole := r.object(func(key string) {
			switch key {
			case "result":
				known = true
				r.object(func(string) {
					r.array(func() {
						t, ok := karmaTest(r)
						if !ok {
							return
						}
						if t.Status == Failed {
							failed++
						}
						d.out.Test(t)
					})
				})
			case "summary":
				known = true
				r.object(func(key string) {
					switch key {
					case "failed":
						declared = r.int()
					case "success":
						passed = r.int()
					case "error":
						broken = r.truth()
					case "disconnected":
						disconnected = r.truth()
					case "exitCode":
						exit = r.int()
					}
				})
			}
		})
		if !whole {
			return known
		}
		missing(d.out, at, declared, failed, "karma")
		switch {
		case disconnected:
			d.out.Problem(Problem{Kind: KindCrash, Name: "karma", At: at, Message: "a browser disconnected before its tests ended"})
		case (broken || exit != 0) && failed == 0 && declared == 0:
			d.out.Problem(Problem{Kind: KindExit, Name: "karma", At: at, Message: "karma failed, but no test did: an error outside the tests, or none ran"})
		}
		n.fewer("karma", at, passed, n.passed)
		return known
	})
}

func karmaTest(r *jsonReader) (Test, bool) {
	t := Test{At: r.at()}
	var path, logs []string
	var full string
	var success, skipped, pending bool
	whole := r.object(func(key string) {
		switch key {
		case "suite":
			r.array(func() { path = append(path, r.short(1000)) })
		case "description":
			t.Name = r.short(2000)
		case "fullName":
			full = r.short(2000)
		case "success":
			success = r.truth()
		case "skipped", "disabled":
			skipped = r.truth() || skipped
		case "pending":
			pending = r.truth()
		case "time":
			t.Duration = millis(r.float())
		case "log":
			r.array(func() { logs = keepSome(logs, r.str()) })
		}
	})
	if !whole {
		return t, false
	}
	t.Suite, t.Name = joinPath(path...), firstOf(t.Name, full, "(no name)")
	switch {
	case skipped || pending:
		t.Status = Skipped
	case success:
		t.Status = Passed
	default:
		t.Status = Failed
		if len(logs) > 0 {
			jsFailure(&t, strings.ReplaceAll(logs[0], "\n    at <Jasmine>", ""))
			t.File = karmaPath(t.File)
			t.Trace = strings.Join(logs, "\n\n")
		}
	}
	return t, true
}

// karmaPath makes a path of the address at which karma serves a file:
// "http://localhost:9876/base/a.js?hash".
func karmaPath(file string) string {
	if !strings.HasPrefix(file, "http://") && !strings.HasPrefix(file, "https://") {
		return file
	}
	file, _, _ = strings.Cut(file, "?")
	if _, path, ok := strings.Cut(file, "/base/"); ok {
		return path
	}
	if _, path, ok := strings.Cut(file, "/absolute/"); ok {
		return "/" + path
	}
	return file
}
