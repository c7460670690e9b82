#!/usr/bin/env bash
# Fails when a shell script does not parse or cannot be executed. Those of hack/lib are sourced.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
status=0
for script in .ci/run hack/*.sh; do
  bash -n "${script}" || status=1
  [[ -x "${script}" ]] || { echo "${script} is not executable: chmod +x ${script}" >&2; status=1; }
done
for script in hack/lib/*.sh; do
  bash -n "${script}" || status=1
done
exit "${status}"
