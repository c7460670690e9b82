#!/usr/bin/env bash
# Builds the programs that development, tests and the demo need into bin/tools, from the versions pinned in hack/tools/go.mod.
#
#   hack/build-tools.sh [name...]     default: all of them
#
# What is up to date is left alone, so this may be called before every use; two calls at once wait for each other. The first build
# takes minutes and shows on stderr that it is alive. Needs bash, go, coreutils and util-linux; installs nothing anywhere else.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source=$root/hack/tools
bin=$root/bin/tools

declare -A packages=(
  [etcd]=go.etcd.io/etcd/server/v3
  [kube-apiserver]=k8s.io/kubernetes/cmd/kube-apiserver
  [kube-controller-manager]=k8s.io/kubernetes/cmd/kube-controller-manager
  [kubectl]=k8s.io/kubernetes/cmd/kubectl
  [kwok]=sigs.k8s.io/kwok/cmd/kwok
  [controller-gen]=sigs.k8s.io/controller-tools/cmd/controller-gen
  [golangci-lint]=github.com/golangci/golangci-lint/v2/cmd/golangci-lint
)
# Smallest first, so that a fault in the set-up shows early.
all=(etcd controller-gen kubectl kwok kube-apiserver kube-controller-manager golangci-lint)

. "$root/hack/lib/build.sh"

names=("$@")
[[ $# -gt 0 ]] || names=("${all[@]}")
for name in "${names[@]}"; do
  [[ -n ${packages[$name]:-} ]] || fail "unknown tool $name; there are ${all[*]}"
done
command -v go >/dev/null || fail "needs go in the PATH"

stamp=$({ go -C "$source" env GOVERSION GOOS GOARCH && cat "$source/go.mod" "$source/go.sum" "${BASH_SOURCE[0]}"; } | stamp_of)

missing() {
  for name in "${names[@]}"; do up_to_date "$name" "$stamp" || return 0; done
  return 1
}

missing || exit 0

lock_builds

build() { # name
  local name=$1 new=$bin/.$1.new
  # The linker is skipped for an output that is up to date already, as when go.sum has changed for another tool's sake.
  [[ ! -x $bin/$name ]] || cp "$bin/$name" "$new"
  compile "$name" go -C "$source" build -p "$jobs" -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes" \
    -o "$new" "${packages[$name]}"
  put_in_place "$name" "$stamp"
}

export CGO_ENABLED=0
# Without it Kubernetes reports its version as v0.0.0-master, which clients take for the oldest.
kubernetes=$(go -C "$source" list -m -f '{{.Version}}' k8s.io/kubernetes)
# Some of these packages take a gigabyte to compile: more at once is for machines that have the memory.
jobs=${FAIRWAY_BUILD_JOBS:-2}

for name in "${names[@]}"; do
  if up_to_date "$name" "$stamp"; then
    say "$name: up to date"
  else
    build "$name"
  fi
done
