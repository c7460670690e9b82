#!/usr/bin/env bash
# Fails when `go vet` finds something.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CGO_ENABLED=0
go vet ./...
go -C hack/promql vet ./...
