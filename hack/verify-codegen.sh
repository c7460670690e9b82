#!/usr/bin/env bash
# Fails when generated files differ from what the API types say now. Nothing in the repository is touched.
set -o errexit -o nounset -o pipefail

repo="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
scratch="$(mktemp -d)"
trap 'rm -rf "${scratch}"' EXIT

"${repo}/hack/update-codegen.sh" "${scratch}"

status=0
# What was generated must be here, and be the same.
while IFS= read -r -d '' file; do
  diff -u "${repo}/${file}" "${scratch}/${file}" || status=1
done < <(cd "${scratch}" && find . -type f -print0)
# What is here must still be generated.
while IFS= read -r -d '' file; do
  if [[ ! -e "${scratch}/${file}" ]]; then
    echo "${file} is not generated any more" >&2
    status=1
  fi
done < <(cd "${repo}" && find ./manifests/crds ./pkg/apis \( -name '*.yaml' -o -name 'zz_generated.*' \) -print0)

if [[ "${status}" != 0 ]]; then
  echo "Generated files are out of date: run hack/update-codegen.sh" >&2
fi
exit "${status}"
