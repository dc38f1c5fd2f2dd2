# make demo    the story of three pull requests, in the terminal
# make test    everything: vet, lint, unit, race, end to end
# make help    the other targets

GO ?= go
BIN := $(CURDIR)/bin
# Only the race detector needs C. All other steps use the same settings and so share the build
# cache, wherever their checkout is: workflows of the end-to-end tests build in one of their own.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath
# Builds and tests are short: collecting garbage at five times the memory in use instead of twice
# saves a third of their time. The limit keeps a small machine from swapping.
export GOGC ?= 400
export GOMEMLIMIT ?= 3GiB

.PHONY: help demo build test unit race plain unit-e2e lint vulnerabilities mutation bench load burst soak microbench score train corpus fuzz e2e e2e-tools image schema clean

help:
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | awk -F'\t' '{printf "  %-15s %s\n", $$1, $$2}'

demo: ## tell the story of three pull requests from recorded test output
	@$(GO) run ./cmd/switchback demo

build: ## build bin/switchback, static
	$(GO) build -o $(BIN)/switchback ./cmd/switchback

# Three targets at a time keep two cores busy, because the end-to-end tests mostly wait for other
# processes. TIMES=-json prints how long each test takes.
test: e2e-tools build ## everything
	@$(MAKE) --no-print-directory -j 3 lint unit unit-e2e
	@echo "make test: all passed"

# -count=1 because a cached result proves nothing about today's bench, -vet=off because lint runs
# vet, and -s because the linker spends a third of its time on symbols for debuggers.
TIMES ?=
GOTEST = $(GO) test $(TIMES) -vet=off -count=1 -ldflags=-s

# UNRACED packages parse, compute and render, or run the program as a process; they take ten times as
# long under the race detector. They start no goroutines except in code that tests named AtOnce or
# Concurrent cover. So the race detector runs only those tests of theirs, and every test of all other
# packages. A path that names no package is an error.
UNRACED := ./routing/... ./bot/analysis ./bot/config ./bot/ctrf ./bot/export ./bot/plans/planfile \
	./bot/render/... ./bot/replays ./bot/web ./cmd/... ./internal/corpus/... ./internal/load ./internal/score
unraced = $(shell $(GO) list $(UNRACED))
tested = $(shell $(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v '/e2e$$')
at-once = $(addprefix ./,$(sort $(dir $(shell grep -rlE --include='*_test.go' 'func Test[A-Za-z0-9_]*(AtOnce|Concurrent)' $(patsubst ./%,%,$(UNRACED:/...=))))))

unit: ## the tests of the packages, not end to end
	@$(MAKE) --no-print-directory race
	@$(MAKE) --no-print-directory plain

plain:
	@$(GO) list $(UNRACED) > /dev/null
	$(GOTEST) -p 3 -timeout 15m $(UNRACED)

# SQLite is C translated to Go. Race-checking it takes as long as everything else, and its authors
# test it.
RACE := -race -gcflags=modernc.org/...=-race=false
race: export CGO_ENABLED := 1
race:
	$(GOTEST) $(RACE) -p 3 -timeout 15m $(filter-out $(unraced),$(tested))
	$(GOTEST) $(RACE) -timeout 15m -run 'AtOnce|Concurrent' $(at-once)

# The end-to-end tests run the program as a separate process, so the race detector would only check
# the bench and double the time. It runs for the test that calls the Action in its own process.
unit-e2e:
	$(GOTEST) -parallel 6 -timeout 18m ./e2e/
	CGO_ENABLED=1 $(GOTEST) $(RACE) -timeout 10m -run 'TestInterleavings/.*story_0$$' ./e2e/

lint: e2e-tools ## gofmt, vet, staticcheck, deadcode, actionlint, workflowcheck
	@fmt=$$(gofmt -l bot cmd e2e internal routing); if [ -n "$$fmt" ]; then echo "gofmt would change:"; echo "$$fmt"; exit 1; fi
	$(GO) vet ./...
	$(BIN)/staticcheck ./...
	scripts/deadcode.sh $(BIN)/deadcode
	$(BIN)/actionlint
	$(GO) run ./internal/workflowcheck

# It needs the Go vulnerability database, so CI runs it in a job of its own.
vulnerabilities: $(BIN)/govulncheck ## known vulnerabilities in the code that is called
	$(BIN)/govulncheck ./...
	cd tools && $(BIN)/govulncheck -scan module

e2e: e2e-tools build ## the end-to-end tests alone
	$(GOTEST) -parallel 6 -timeout 18m ./e2e/

e2e-tools: $(BIN)/act $(BIN)/actionlint $(BIN)/staticcheck $(BIN)/deadcode e2e/node_modules/.package-lock.json

$(BIN)/act: tools/go.sum
	cd tools && $(GO) build -o $(BIN)/act github.com/nektos/act

$(BIN)/actionlint: tools/go.sum
	cd tools && $(GO) build -o $(BIN)/actionlint github.com/rhysd/actionlint/cmd/actionlint

$(BIN)/staticcheck: tools/go.sum
	cd tools && $(GO) build -o $(BIN)/staticcheck honnef.co/go/tools/cmd/staticcheck

$(BIN)/deadcode: tools/go.sum
	cd tools && $(GO) build -o $(BIN)/deadcode golang.org/x/tools/cmd/deadcode

$(BIN)/govulncheck: tools/go.sum
	cd tools && $(GO) build -o $(BIN)/govulncheck golang.org/x/vuln/cmd/govulncheck

$(BIN)/gremlins: tools/go.sum
	cd tools && $(GO) build -o $(BIN)/gremlins github.com/go-gremlins/gremlins/cmd/gremlins

e2e/node_modules/.package-lock.json: e2e/package-lock.json
	cd e2e && npm ci --no-progress
	@touch $@

# The report parsers are covered by fuzzing instead: testing one mutant takes minutes of recorded
# files.
MUTATED ?= routing $(addprefix routing/,answers diagnosis diagnosis/rank diagnosis/steps escalation history \
	plan plan/feedback replay stats survey)
mutation: $(BIN)/gremlins ## change the code of pure packages (MUTATED), each without those below it, and see whether tests fail: hours
	@for p in $(MUTATED); do echo "$$p"; $(BIN)/gremlins unleash -S lt --workers 2 --timeout-coefficient 5 \
		-E '^[a-z]+/' -o bin/mutation-$$(echo $$p | tr / -).json ./$$p || exit 1; done

bench: ## measure side by side with other readers (BENCH=full: 1 GB, 1M tests)
	@$(GO) build -o $(BIN)/bench/bench ./internal/bench && $(BIN)/bench/bench

load: ## measure the App under load (LOAD=full: longer, 100,000 cases)
	@$(GO) run ./internal/load

BURST ?= 1000
burst: e2e-tools ## fail BURST (1000) pull requests at once, and check the requests that GitHub gets
	BURST=$(BURST) $(GO) test -count=1 -timeout 90m -v -run TestBurst ./e2e/

soak: e2e-tools ## kill servers 200 times under deliveries while GitHub fails (SOAK_SEED, SOAK_KILLS, SOAK_PULLS)
	SOAK=full $(GO) test -count=1 -v -timeout 6h -run 'TestSoak$$' ./e2e/

microbench: ## benchmarks of the readers and of diagnosis
	$(GO) test -run '^$$' -bench . -benchmem ./routing/...

SHARED ?= ../shared
score: ## score readers and diagnosis on the fixtures beside this checkout, in sample and left out
	$(GO) run ./internal/score $(SHARED)/fixtures internal/corpus bin/predictions.jsonl
	@for t in score score_structured; do if [ -e $(SHARED)/tools/$$t.py ]; then \
		python3 $(SHARED)/tools/$$t.py $(SHARED)/fixtures bin/predictions.jsonl > bin/$$t.json && echo "bin/$$t.json"; fi; done

train: ## learn the weights that rank the lines of a log, from recorded logs
	$(GO) run ./internal/train $(SHARED)/fixtures internal/corpus routing/diagnosis/rank/weights.json
TOOLS ?=
corpus: ## record the outputs of real tools anew (TOOLS=NAMES: of those), and score the readers on them
	$(GO) run ./internal/corpus record $(TOOLS)
	$(GO) run ./internal/corpus score $(TOOLS)

FUZZTIME ?= 60s
FUZZ ?= ^Fuzz
fuzz: ## every fuzz target (FUZZ=regexp of names, such as OnGitHub) for FUZZTIME (60s)
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '$(FUZZ)' $$p | grep '^Fuzz'); do \
		echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p || exit 1; done; done

image: ## build the container image with buildah, without a registry, and run it
	scripts/image.sh

schema: ## write the JSON Schema of the configuration
	$(GO) run ./cmd/switchback config schema > switchback.schema.json

clean:
	rm -rf bin e2e/node_modules
