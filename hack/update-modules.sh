#!/usr/bin/env bash
# Tidies both modules; hack/verify-modules.sh is its twin.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for module in . hack/tools; do
  go -C "${module}" mod tidy
done
