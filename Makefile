# Everything there is to do with this repository. `make help` lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

BUN := node_modules/.bin/bun
STAMP := node_modules/.installed
BINARY := dist/holdfast
SOURCES := $(shell find src migrations -type f ! -name '*.test.ts' 2>/dev/null) package.json

# The pinned kube-apiservers of other versions, 1.34 and so on.
SERVERS := $(sort $(patsubst test/rig/servers/%/go.mod,%,$(wildcard test/rig/servers/*/go.mod)))

# A kubeconfig counts only when it stands on the command line: one that happens to be exported
# must not make `make run` touch somebody's cluster.
GIVEN_KUBECONFIG := $(if $(filter command line,$(origin KUBECONFIG)),$(KUBECONFIG))

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | \
	  awk -F ':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'

.PHONY: run
run: $(if $(GIVEN_KUBECONFIG),need-node,need-all) $(BINARY) ## Try it: a small cluster with Holdfast and a sample (KUBECONFIG=FILE: your own cluster; ARGS=flags)
	@$(BUN) scripts/run.ts $(if $(GIVEN_KUBECONFIG),--kubeconfig="$(GIVEN_KUBECONFIG)") \
	  $(if $(MANAGER),--manager=$(MANAGER)) -- $(ARGS)

.PHONY: run-kill
run-kill: $(STAMP) ## Kill -9 the Holdfast of `make run` and see it carry on
	@$(BUN) scripts/run-kill.ts

.PHONY: test
test: need-all $(STAMP) ## Build everything and run all checks and tests (what CI runs)
	@$(BUN) scripts/test.ts $(ARGS)

.PHONY: build
build: $(BINARY) ## Compile dist/holdfast

$(BINARY): $(STAMP) $(SOURCES) scripts/build.ts
	@echo 'compiling dist/holdfast (a few seconds)'
	@$(BUN) scripts/build.ts

.PHONY: rig
rig: need-all ## Build the real etcd and Kubernetes binaries of the test rig (minutes the first time)
	@test/rig/build.sh
	@test/rig/metrics-server/build.sh

.PHONY: reference
reference: need-all $(BINARY) ## Play the scenarios under both managers and keep anew what the reference comes to
	@HOLDFAST_REFERENCE=write $(BUN) test --timeout=280000 test/scenarios

.PHONY: simulate
simulate: $(STAMP) ## Cluster life from seeds, in model time (HOURS=20 a seed; RUNS=50 seeds, or SEED=N)
	@HOURS="$(HOURS)" SEED="$(SEED)" RUNS="$(RUNS)" FROM="$(FROM)" $(BUN) scripts/simulate.ts

.PHONY: crash
crash: need-all $(BINARY) ## Kill, freeze and starve it on a real cluster (N=1000 times; SEED=N repeats)
	@N="$(N)" SEED="$(SEED)" $(BUN) scripts/crash.ts

.PHONY: faults
faults: need-all $(BINARY) ## Faults of network, answers, disk and machine, many at once (N=200; SEED=N repeats)
	@N="$(N)" SEED="$(SEED)" $(BUN) scripts/faults.ts

.PHONY: soak
soak: need-all $(BINARY) ## Steady churn for MINUTES=60: fails when memory, descriptors or disk use grow
	@MINUTES="$(MINUTES)" $(BUN) scripts/soak.ts

.PHONY: kine
kine: need-all $(BINARY) ## Restart, takeover and crash tests with kine and SQLite where etcd is (wants a C compiler)
	@HOLDFAST_RIG_STORAGE=kine $(BUN) test --timeout=280000 test/restart test/takeover test/crash

.PHONY: e2e
e2e: need-all $(BINARY) ## Real containers on two real nodes, containerd and kubelet, under Holdfast (wants root)
	@scripts/need.sh go=1.26.6
	@test/e2e/run.sh $(ARGS)

.PHONY: musl
musl: need-all $(STAMP) ## Tests of service, restart and crash with the binary for musl (Debian; it wants musl-tools)
	@program=$$($(BUN) scripts/musl.ts) && HOLDFAST_RIG_PROGRAM=$$program $(BUN) test --timeout=280000 \
	  test/service/notify.test.ts test/lease/standby.test.ts test/state/ownership.test.ts \
	  test/restart/restart.test.ts test/crash

.PHONY: versions
versions: need-all $(BINARY) ## Scenarios, takeovers and restarts on other API servers (SERVER=1.35: one; EMULATED=1.34: ours as if)
	@failed=; for server in $(if $(EMULATED),$(EMULATED),$(or $(SERVER),$(SERVERS))); do \
	  echo "== kube-apiserver $(if $(EMULATED),emulating )$$server"; \
	  export $(if $(EMULATED),HOLDFAST_RIG_EMULATED,HOLDFAST_RIG_SERVER)=$$server; \
	  $(BUN) test --timeout=280000 test/scenarios test/takeover test/restart || failed="$$failed $$server"; \
	done; if [ -n "$$failed" ]; then echo "failed on:$$failed" >&2; exit 1; fi

.PHONY: bench
bench: need-all $(BINARY) ## Measure Holdfast against the reference manager (ARGS="--quick" for a short run)
	@$(BUN) scripts/bench.ts $(ARGS)

.PHONY: release
release: need-node $(STAMP) ## Binaries and packages for all machines, with checksums and contents, in dist/release (ARGS="--only linux-amd64": one)
	@scripts/need.sh dpkg-deb=1.19
	@$(BUN) scripts/release.ts $(ARGS)

.PHONY: release-check
release-check: need-node $(STAMP) ## Compile each binary in two folders and compare the bytes
	@$(BUN) scripts/release-check.ts $(ARGS)

.PHONY: lint
lint: $(STAMP) ## Check style and types
	@node_modules/.bin/biome check .
	@node_modules/.bin/tsc -p .

.PHONY: fmt
fmt: $(STAMP) ## Format all sources
	@node_modules/.bin/biome check --write .

.PHONY: clean
clean: ## Remove what was built here (the rig's binaries stay in their cache)
	rm -rf dist .run node_modules

.PHONY: need-node need-all
need-node:
	@scripts/need.sh make=4 node=20 npm=10

need-all:
	@scripts/need.sh make=4 node=20 npm=10 go=1.26.4 flock=2

$(STAMP): package.json package-lock.json | need-node
	@echo 'installing packages from package-lock.json (a minute or two the first time)'
	@npm ci --no-audit --no-fund
	@touch $@
