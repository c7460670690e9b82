#!/usr/bin/env bash
# Tidies all modules; hack/verify-modules.sh is its twin.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for module in . hack/tools hack/promql; do
  go -C "${module}" mod tidy
done
