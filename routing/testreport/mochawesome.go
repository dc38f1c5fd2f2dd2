package testreport

// mochawesomeFormat reads the JSON of mochawesome, which Cypress runs use too.
var mochawesomeFormat = format{
	name:  "mochawesome",
	order: 210,
	opens: []string{"stats"}, document: readMochawesome, leaves: true,
	detect: detectJSON(`"stats"`, func(h jsonHead) bool {
		return h.has("stats.failures") && h.any("results", "stats.testsRegistered", "stats.passPercent")
	}),
}

type mochawesome struct {
	d      *document
	r      *jsonReader
	failed int
}

func readMochawesome(d *document) error {
	return readJSON(d, "mochawesome", func(r *jsonReader) bool {
		n := tallied(d)
		m := &mochawesome{d: d, r: r}
		at := r.at()
		declared, passed, known := 0, 0, false
		whole := r.object(func(key string) {
			switch key {
			case "stats":
				known = true
				r.object(func(key string) {
					switch key {
					case "failures":
						declared = r.int()
					case "passes":
						passed = r.int()
					}
				})
			case "results":
				known = true
				r.array(func() { m.suite("", "") })
			}
		})
		if whole {
			missing(d.out, at, declared, m.failed, "mocha")
			n.fewer("mocha", at, passed, n.passed)
		}
		return known
	})
}

func (m *mochawesome) suite(path, file string) {
	r := m.r
	outer := file
	r.object(func(key string) {
		switch key {
		case "title":
			path = joinPath(path, r.short(1000))
		case "file", "fullFile":
			if f := r.short(1000); f != "" && (key == "fullFile" || file == "" || file == outer) {
				file = f
			}
		case "tests", "beforeHooks", "afterHooks":
			r.array(func() { m.test(path, file) })
		case "suites":
			r.array(func() { m.suite(path, file) })
		}
	})
}

func (m *mochawesome) test(path, file string) {
	r := m.r
	t := Test{Suite: path, File: file, At: r.at()}
	var state, full, stack, code string
	var fail, pass, pending, skipped, hook, timedOut bool
	whole := r.object(func(key string) {
		switch key {
		case "title":
			t.Name = r.short(2000)
		case "fullTitle":
			full = r.short(2000)
		case "state":
			state = r.short(40)
		case "duration":
			t.Duration = millis(r.float())
		case "fail":
			fail = r.truth()
		case "pass":
			pass = r.truth()
		case "pending":
			pending = r.truth()
		case "skipped":
			skipped = r.truth()
		case "isHook":
			hook = r.truth()
		case "timedOut":
			timedOut = r.truth()
		case "err":
			stack, code = mochaError(r, &t)
		}
	})
	t.Name = firstOf(t.Name, full, "(no name)")
	switch {
	case state == "failed" || fail:
		t.Status = Failed
		m.failed++
		mochaFailure(&t, stack, code)
		if timedOut {
			t.Kind = KindTimeout
		}
		if hook {
			t.Kind = KindSetup
		}
		m.d.out.Test(t)
		return
	case !whole || hook:
		return // hooks that pass are no tests
	case state == "passed" || pass:
		t.Status = Passed
	case state == "pending" || pending:
		t.Status = Pending
	case skipped || state == "skipped":
		t.Status = Skipped
	default:
		t.Status = Other
	}
	t.Message, t.Expected, t.Actual = "", "", ""
	m.d.out.Test(t)
}
