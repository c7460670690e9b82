#!/usr/bin/env bash
# Fails when golangci-lint, at the version pinned in hack/tools, finds something.
# What is banned and why stands in .golangci.yml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CGO_ENABLED=0
hack/build-tools.sh golangci-lint
bin/tools/golangci-lint run ./...
(cd hack/promql && ../../bin/tools/golangci-lint run --config ../../.golangci.yml ./...)
