# make demo    the story of three pull requests, in the terminal
# make test    everything: vet, lint, unit, race, end to end
# make help    the other targets

GO ?= go
BIN := $(CURDIR)/bin
# Nothing needs C but the race detector. One setting for all else, so that what
# one step has compiled the next one need not, wherever its checkout is: workflows
# of the end-to-end tests build the program in one of their own.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath

.PHONY: help demo build test unit race plain unit-e2e lint bench load burst soak microbench fuzz e2e e2e-tools schema clean

help:
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | awk -F'\t' '{printf "  %-10s %s\n", $$1, $$2}'

demo: ## tell the story of three pull requests from recorded test output
	@$(GO) run ./cmd/switchback demo

build: ## build bin/switchback, static
	$(GO) build -o $(BIN)/switchback ./cmd/switchback

# The end-to-end tests wait more than they compute: they run beside the others,
# and more at once than there are cores.
test: e2e-tools build ## everything
	@$(MAKE) --no-print-directory -j 3 lint unit unit-e2e
	@echo "make test: all passed"

unit: ## the tests of the packages, not end to end
	@$(MAKE) --no-print-directory plain
	@$(MAKE) --no-print-directory race

# What reads, computes and renders starts nothing at once, and takes ten times as
# long under the race detector. That watches all other packages, and of these the
# tests in which many use them at once. -count=1 because a cached result proves
# nothing about today's bench; -vet=off because lint vets.
PURE := /routing|/bot/(dash|analyze|render)$$
plain:
	$(GO) test -vet=off -count=1 -timeout 15m $$($(GO) list ./... | grep -E '$(PURE)')

race: export CGO_ENABLED := 1
race:
	$(GO) test -race -vet=off -count=1 -timeout 15m $$($(GO) list ./... | grep -vE '$(PURE)|/e2e$$')
	$(GO) test -race -vet=off -count=1 -timeout 15m -run 'AtOnce|Concurrent' $$($(GO) list ./... | grep -E '$(PURE)')

# The end-to-end tests run the program as a process of its own: the race detector
# would watch the bench, at twice the time, but where the Action runs inside.
unit-e2e:
	$(GO) test -vet=off -count=1 -parallel 6 -timeout 18m ./e2e/
	CGO_ENABLED=1 $(GO) test -race -vet=off -count=1 -timeout 10m -run 'TestInterleavings/.*story_0$$' ./e2e/

lint: e2e-tools ## gofmt, vet, staticcheck, actionlint
	@fmt=$$(gofmt -l bot cmd e2e internal routing); if [ -n "$$fmt" ]; then echo "gofmt would change:"; echo "$$fmt"; exit 1; fi
	$(GO) vet ./...
	$(BIN)/staticcheck ./...
	$(BIN)/actionlint

e2e: e2e-tools build ## the end-to-end tests alone
	$(GO) test -count=1 -parallel 6 -timeout 18m ./e2e/

e2e-tools: $(BIN)/act $(BIN)/actionlint $(BIN)/staticcheck e2e/node_modules/.package-lock.json

$(BIN)/act: tools/go.sum
	cd tools && $(GO) build -o $(BIN)/act github.com/nektos/act

$(BIN)/actionlint: tools/go.sum
	cd tools && $(GO) build -o $(BIN)/actionlint github.com/rhysd/actionlint/cmd/actionlint

$(BIN)/staticcheck: tools/go.sum
	cd tools && $(GO) build -o $(BIN)/staticcheck honnef.co/go/tools/cmd/staticcheck

e2e/node_modules/.package-lock.json: e2e/package-lock.json
	cd e2e && npm ci --no-progress
	@touch $@

bench: ## measure side by side with other readers (BENCH=full: 1 GB, 1M tests)
	@$(GO) build -o $(BIN)/bench/bench ./internal/bench && $(BIN)/bench/bench

load: ## measure what the App bears (LOAD=full: longer, 100,000 cases)
	@$(GO) run ./internal/load

BURST ?= 1000
burst: e2e-tools ## fail BURST (1000) pull requests at once, and look at what GitHub sees
	BURST=$(BURST) $(GO) test -count=1 -timeout 90m -v -run TestBurst ./e2e/

soak: e2e-tools ## kill servers 200 times under deliveries while GitHub fails (SOAK_SEED, SOAK_KILLS, SOAK_PULLS)
	SOAK=full $(GO) test -count=1 -v -timeout 6h -run 'TestSoak$$' ./e2e/

microbench: ## benchmarks of the readers and of diagnosis
	$(GO) test -run '^$$' -bench . -benchmem ./routing/...

SHARED ?= ../shared
score: ## score the readers on the recorded fixtures beside this checkout
	$(GO) run ./internal/score $(SHARED)/fixtures bin/predictions.jsonl
	@for t in score score_structured; do if [ -e $(SHARED)/tools/$$t.py ]; then \
		python3 $(SHARED)/tools/$$t.py $(SHARED)/fixtures bin/predictions.jsonl > bin/$$t.json && echo "bin/$$t.json"; fi; done

FUZZTIME ?= 60s
fuzz: ## every fuzz target for FUZZTIME (60s)
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
		echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; done; done

schema: ## write the JSON Schema of the configuration
	$(GO) run ./cmd/switchback config schema > switchback.schema.json

clean:
	rm -rf bin e2e/node_modules
