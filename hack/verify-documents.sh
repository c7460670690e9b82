#!/usr/bin/env bash
# Fails when a command in README.md or docs/ does not run or shows something else, or when YAML there does not apply to a control plane.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CGO_ENABLED=0
make --silent tools
go test -count=1 ./test/documents
go test -count=1 ./test/crd -run='^TestDocumented'
