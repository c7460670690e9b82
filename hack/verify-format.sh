#!/usr/bin/env bash
# Fails when a Go file is not formatted; hack/update-format.sh mends it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unformatted=$(gofmt -s -l cmd hack pkg test)
if [[ -n "${unformatted}" ]]; then
  echo "not formatted (run hack/update-format.sh):" >&2
  echo "${unformatted}" >&2
  exit 1
fi
