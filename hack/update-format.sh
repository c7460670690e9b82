#!/usr/bin/env bash
# Formats every Go file; hack/verify-format.sh is its twin.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
gofmt -s -w cmd hack pkg test
