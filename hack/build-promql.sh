#!/usr/bin/env bash
# Builds bin/tools/promql, which answers PromQL queries over scraped metrics, from the module in hack/promql: tests prove with it the queries
# of manifests/monitoring. It has a stamp of its own, so that a change of it does not rebuild the tools of hack/build-tools.sh.
#
# What is up to date is left alone, so this may be called before every use; two calls at once wait for each other. The first build takes
# about a minute. Needs bash, go, coreutils and util-linux; installs nothing anywhere else.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source=$root/hack/promql
bin=$root/bin/tools

say() { printf 'build-promql: %s\n' "$*" >&2; }

# Everything that decides what comes out.
stamp=$({ go -C "$source" env GOVERSION GOOS GOARCH && cat "$source"/go.mod "$source"/go.sum "$source"/*.go "${BASH_SOURCE[0]}"; } | sha256sum)
stamp=${stamp%% *}

up_to_date() { [[ -x $bin/promql && -f $bin/.promql.stamp && $(<"$bin/.promql.stamp") == "$stamp" ]]; }

up_to_date && exit 0

mkdir -p "$bin"
exec {lock}>"$bin/.promql.lock"
flock --nonblock "$lock" || { say "waiting for another build to finish"; flock "$lock"; }
up_to_date && exit 0

say "promql: building, about a minute the first time"
trap 'rm -f "$bin/.promql.new"' EXIT
began=$SECONDS
CGO_ENABLED=0 go -C "$source" build -p "${FAIRWAY_BUILD_JOBS:-2}" -buildvcs=false -ldflags '-s -w' -o "$bin/.promql.new" .
mv "$bin/.promql.new" "$bin/promql" # a running one is not disturbed, and a half-written one never seen
printf '%s\n' "$stamp" >"$bin/.promql.stamp"
say "promql: built in $((SECONDS - began)) s"
