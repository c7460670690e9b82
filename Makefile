# Fairway's one entrance, for people and for CI. `make help` lists the targets.
#
# Needed: go, git, make and bash. No C compiler: everything is built with
# CGO_ENABLED=0. Nothing is installed outside this folder and Go's own caches.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory
.NOTPARALLEL:

export CGO_ENABLED := 0
GO ?= go

# Compilers at a time. kube-scheduler's dependencies are large; two of them keep
# a small machine usable.
P ?= 2

# What `make demo` hands to bin/fairway-demo; see `bin/fairway-demo --help`.
DEMO_ARGS ?=

# Worlds that `make test-sim` simulates, and the simulations that run in so many.
RUNS ?= 100000
SIMULATIONS := TestTheBooksStayRightWhateverHappens TestEvictionsStop TestGangsNeverDeadlock \
	TestAtEveryPrefixOfTheOrderSiblingsAreWithinAWindow TestTheOrderIsExactToOnePod

# What `make bench` hands to test/bench; see `go run ./test/bench -help`.
BENCH_ARGS ?=

# Every folder of cmd/ is a binary. `make build COMMANDS=fairway-scheduler`
# builds that one alone, as the Dockerfile does.
COMMANDS ?= $(notdir $(wildcard cmd/*))

# The scheduler reports the Kubernetes version it is built from, so that feature
# gates and emulation follow it, with our own version behind it.
KUBERNETES_VERSION = $(shell sed -n 's|^\tk8s.io/kubernetes ||p' go.mod)
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
VERSION_PACKAGE := k8s.io/component-base/version
SCHEDULER_LDFLAGS = -X $(VERSION_PACKAGE).gitVersion=$(KUBERNETES_VERSION)-fairway+$(VERSION) \
	-X $(VERSION_PACKAGE).gitMajor=$(word 1,$(subst ., ,$(KUBERNETES_VERSION:v%=%))) \
	-X $(VERSION_PACKAGE).gitMinor=$(word 2,$(subst ., ,$(KUBERNETES_VERSION)))
# For release builds, for instance -trimpath. Set once and kept: changing it
# compiles everything again.
BUILD_FLAGS ?=

# Linking flags do not touch compiled packages, so a new version only links. The
# version is in the flags; asking git a second time (-buildvcs) would make
# builds fail in archives and in containers.
GO_BUILD = $(GO) build -p $(P) -buildvcs=false $(BUILD_FLAGS)

# The tools that a local control plane is made of, and those that check sources.
CLUSTER_TOOLS := etcd kube-apiserver kube-controller-manager kubectl kwok

# go test with lines about its progress. Its flags are single words.
GO_TEST := $(GO) run ./hack/progress -p=$(P)

# Packages start a control plane by importing pkg/localcluster. Their tests wait
# more than they compute: $(P) packages run at a time and in each $(P) tests, the
# longest package first.
LIST_IMPORTS := $(GO) list -f '{{.ImportPath}} {{.Imports}} {{.TestImports}} {{.XTestImports}}' ./...
STARTS_CLUSTER := pkg/localcluster

# What costs time per pod or per event.
HOT_PATHS := ./pkg/dispatch/... ./pkg/ledger/... ./pkg/core/ordering/... ./pkg/core/fairshare/... ./pkg/app

.PHONY: help build tools generate verify lint test test-unit test-integration test-sim test-long test-operators demo bench clean

help: ## show this list
	@echo 'Fairway: hierarchical fair-share scheduling for Kubernetes'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-17s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

build: ## build every command of cmd/ into bin/
	@for command in $(COMMANDS); do \
		case $$command in \
		fairway-scheduler) $(GO_BUILD) -ldflags '$(SCHEDULER_LDFLAGS)' -o bin/$$command ./cmd/$$command ;; \
		kubectl-fairway) $(GO_BUILD) -ldflags '-X main.version=$(VERSION)' -o bin/$$command ./cmd/$$command ;; \
		*) $(GO_BUILD) -o bin/$$command ./cmd/$$command ;; \
		esac; \
		echo "built bin/$$command"; \
	done

tools: ## build the control plane (etcd, kube-apiserver, kwok ...) into bin/tools; minutes the first time, cached then
	@hack/build-tools.sh $(CLUSTER_TOOLS)
	@hack/build-promql.sh

generate: ## rewrite what is generated: deepcopy and CRDs, go.mod, formatting
	@for update in hack/update-*.sh; do echo "$$update"; $$update; done

verify: ## run every check of hack/verify-*.sh; changes nothing
	@failed=; for check in hack/verify-*.sh; do \
		name=$${check#hack/verify-}; name=$${name%.sh}; start=$$SECONDS; \
		echo "verify $$name ..."; \
		if $$check; then verdict=ok; else verdict=FAILED; failed="$$failed $$name"; fi; \
		echo "verify $$name: $$verdict ($$((SECONDS - start))s)"; \
	done; \
	if [[ -n "$$failed" ]]; then echo "verify failed:$$failed (each is hack/verify-NAME.sh)" >&2; exit 1; fi

lint: ## run golangci-lint alone
	@hack/verify-lint.sh

test: test-unit test-integration ## run everything a clone needs to be trusted: all Go tests, then each demo once
	@$(MAKE) demo DEMO_ARGS=--once
	@$(MAKE) demo DEMO_ARGS="--driver-storm --once"
	@$(MAKE) demo DEMO_ARGS="--preemption --once"
	@$(MAKE) demo DEMO_ARGS="--teams --once"

test-unit: ## run the tests that need no control plane: units, scenarios, properties, laws of the tree
	@$(LIST_IMPORTS) | grep -v '$(STARTS_CLUSTER)' | cut -d ' ' -f 1 | xargs $(GO_TEST) -timeout=30m

test-integration: tools ## run the tests that start a real control plane
	@$(LIST_IMPORTS) | grep '$(STARTS_CLUSTER)' | cut -d ' ' -f 1 | sort -r | xargs $(GO_TEST) -parallel=$(P) -count=1 -timeout=30m

test-sim: ## run each simulation in 100,000 random worlds with faults (RUNS changes the number; make test: 200 to 2,000), and crowds at full size
	@for simulation in $(SIMULATIONS); do \
		$(GO_TEST) -count=1 -timeout=10h ./test/simulator -run=^$$simulation'$$' -runs=$(RUNS); \
	done
	@$(GO_TEST) -count=1 -timeout=2h ./pkg/core/reservation -run=TestPlansEqualTheirTwin -runs=$(RUNS)
	@$(GO_TEST) -count=1 -timeout=2h ./test/simulator -full -questions=1000 -moments=1000 -runs=1000 -skip="^($$(echo $(SIMULATIONS) | tr ' ' '|'))"'$$'

test-long: tools ## run the control plane tests with storms and kills at full length
	@$(GO_TEST) -p=1 -parallel=1 -count=1 -timeout=1h ./test/integration ./test/e2e -long

test-operators: tools ## run JobSet, the Training operator and KubeRay under Fairway on a real control plane; builds them first (minutes)
	@hack/build-operators.sh
	@$(GO_TEST) -parallel=1 -count=1 -timeout=30m ./test/integration ./test/identity -run=^TestOperators -operators

demo: build tools ## start a local cluster with Fairway and show fair sharing; DEMO_ARGS=--once runs through and ends
	@bin/fairway-demo $(DEMO_ARGS)

bench: tools ## measure the dispatcher, then whole schedulers against stock kube-scheduler (15 minutes); BENCH_ARGS for the latter
	@echo 'Each line: benchmark, rounds, ns per operation, memory per operation. BenchmarkYardstick is one Pop and Push on a heap of 10,000. BenchmarkPlan compares a plan for 100 pods with 100 cycles of stock kube-scheduler: plan/cycles.'
	@$(GO) test -p $(P) -run '^$$' -bench . -benchmem $(HOT_PATHS)
	@$(GO) run ./test/bench $(BENCH_ARGS)

clean: ## remove what build made; bin/tools stays (minutes to rebuild), rm -r bin takes it too
	@find bin -mindepth 1 -maxdepth 1 ! -name tools -exec rm -r {} + 2>/dev/null || true
	@echo 'removed bin/ except bin/tools'
