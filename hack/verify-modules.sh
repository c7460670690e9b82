#!/usr/bin/env bash
# Fails when go.mod or go.sum, ours or that of hack/tools or hack/promql, is
# not what `go mod tidy` would write; hack/update-modules.sh mends it. Touches nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
status=0
for module in . hack/tools hack/promql; do
  go -C "${module}" mod tidy -diff || { echo "${module}/go.mod is not tidy: run hack/update-modules.sh" >&2; status=1; }
done
exit "${status}"
