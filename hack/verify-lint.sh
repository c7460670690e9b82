#!/usr/bin/env bash
# Fails when golangci-lint, at the version pinned in hack/tools, finds something
# here or in hack/promql. What is banned and why stands in .golangci.yml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CGO_ENABLED=0
hack/build-tools.sh golangci-lint
lint=${PWD}/bin/tools/golangci-lint config=${PWD}/.golangci.yml
status=0
for module in . hack/promql; do
  (cd "${module}" && "${lint}" run --config "${config}" ./...) || status=1
done
exit "${status}"
