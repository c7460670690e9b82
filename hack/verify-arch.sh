#!/usr/bin/env bash
# Fails when the tree breaks a law of test/arch: imports only go down, budgets,
# words, no machine paths or registry hosts, rows of docs/rules.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
CGO_ENABLED=0 go test -count 1 ./test/arch
