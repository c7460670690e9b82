#!/usr/bin/env bash
# Builds the operators that `make test-operators` runs into bin/tools/operators, from the versions pinned in the modules of hack/operators, and
# copies the definitions of their kinds beside them. A module each: they are built on different versions of Kubernetes.
#
# What is up to date is left alone. The first build takes about eight minutes on two cores. Needs bash, go, coreutils and util-linux; installs
# nothing anywhere else.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=$root/bin/tools/operators

# What to build in each module, and where in which module the definitions are.
declare -A packages=(
  [training]=.
  [jobset]=sigs.k8s.io/jobset
  [kuberay]=github.com/ray-project/kuberay/ray-operator
)
declare -A definitions=(
  [training]="github.com/kubeflow/training-operator manifests/base/crds/kubeflow.org_*.yaml"
  [jobset]="sigs.k8s.io/jobset config/components/crd/bases/*.yaml"
  [kuberay]="github.com/ray-project/kuberay/ray-operator config/crd/bases/*.yaml"
)

. "$root/hack/lib/build.sh"

lock_builds

build() { # name
  local name=$1 source=$root/hack/operators/$1 stamp
  stamp=$({ go -C "$source" env GOVERSION GOOS GOARCH && cat "$source"/go.mod "$source"/go.sum "${BASH_SOURCE[0]}" &&
    find "$source" -name '*.go' -exec cat {} +; } | stamp_of)
  ! up_to_date "$name" "$stamp" || return 0
  compile "$name" go -C "$source" build -p "${FAIRWAY_BUILD_JOBS:-2}" -buildvcs=false -ldflags '-s -w' \
    -o "$bin/.$name.new" "${packages[$name]}"

  local module files
  read -r module files <<<"${definitions[$name]}"
  rm -rf "$bin/$name-crds"
  mkdir "$bin/$name-crds"
  # shellcheck disable=SC2086 # the files are a pattern
  (cd "$(go -C "$source" list -m -f '{{.Dir}}' "$module")" && cat_each $files)
  put_in_place "$name" "$stamp"
}

cat_each() { # a copy, since the files of Go's module cache are read-only
  local file
  for file in "$@"; do cat "$file" >"$bin/$name-crds/${file##*/}"; done
}

export CGO_ENABLED=0
for name in training jobset kuberay; do build "$name"; done
