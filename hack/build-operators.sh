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

say() { printf 'build-operators: %s\n' "$*" >&2; }

mkdir -p "$bin"
exec {lock}>"$bin/.lock"
flock --nonblock "$lock" || { say "waiting for another build to finish"; flock "$lock"; }

compiler=
finish() {
  [[ -z $compiler ]] || kill "$compiler" 2>/dev/null || true
  rm -f "$bin"/.*.new
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

build() { # name
  local name=$1 source=$root/hack/operators/$1 began=$SECONDS heartbeat=20 stamp
  # Everything that decides what comes out.
  stamp=$({ go -C "$source" env GOVERSION GOOS GOARCH && cat "$source"/go.mod "$source"/go.sum "${BASH_SOURCE[0]}" &&
    find "$source" -name '*.go' -exec cat {} +; } | sha256sum)
  stamp=${stamp%% *}
  [[ ! -x $bin/$name || ! -f $bin/.$name.stamp || $(<"$bin/.$name.stamp") != "$stamp" ]] || return 0

  go -C "$source" build -p "${FAIRWAY_BUILD_JOBS:-2}" -buildvcs=false -ldflags '-s -w' -o "$bin/.$name.new" "${packages[$name]}" &
  compiler=$!
  while kill -0 "$compiler" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - began >= heartbeat)); then
      say "$name: still building after $((SECONDS - began)) s"
      ((heartbeat += 20))
    fi
  done
  wait "$compiler" || { compiler=; say "$name: go build failed"; exit 1; }
  compiler=

  local module files
  read -r module files <<<"${definitions[$name]}"
  rm -rf "$bin/$name-crds"
  mkdir "$bin/$name-crds"
  # shellcheck disable=SC2086 # the files are a pattern
  (cd "$(go -C "$source" list -m -f '{{.Dir}}' "$module")" && cat_each $files)
  mv "$bin/.$name.new" "$bin/$name"
  printf '%s\n' "$stamp" >"$bin/.$name.stamp"
  say "$name: built in $((SECONDS - began)) s"
}

cat_each() { # a copy, since the files of Go's module cache are read-only
  local file
  for file in "$@"; do cat "$file" >"$bin/$name-crds/${file##*/}"; done
}

export CGO_ENABLED=0
for name in training jobset kuberay; do build "$name"; done
