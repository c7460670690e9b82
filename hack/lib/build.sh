# Shell functions of the scripts that build programs into a folder. They are sourced, not run. A script sets `bin` to the folder first.

# say TEXT...: a line on stderr that begins with the name of the script.
say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; }

fail() { say "$*"; exit 1; }

# lock_builds waits until no other script builds into the folder, and removes what is half written when this one ends.
lock_builds() {
  mkdir -p "$bin"
  exec {lock}>"$bin/.lock"
  if ! flock --nonblock "$lock"; then
    say "waiting for another build to finish"
    flock "$lock"
  fi
  compiler=
  trap finish EXIT
  trap 'exit 130' INT TERM HUP
}

finish() {
  [[ -z $compiler ]] || kill "$compiler" 2>/dev/null || true
  rm -f "$bin"/.*.new
}

# compile NAME COMMAND...: runs a compiler, and says every 20 seconds that it is alive.
compile() {
  local name=$1 began=$SECONDS heartbeat=20
  shift
  "$@" &
  compiler=$!
  while kill -0 "$compiler" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - began >= heartbeat)); then
      say "$name: still building after $((SECONDS - began)) s"
      ((heartbeat += 20))
    fi
  done
  wait "$compiler" || { compiler=; fail "$name: go build failed"; }
  compiler=
  say "$name: built in $((SECONDS - began)) s"
}

# stamp_of: a digest of what is read from stdin. It stands for everything that decides what is built.
stamp_of() { sha256sum | cut -d ' ' -f 1; }

# up_to_date NAME STAMP: whether the program was built from exactly this.
up_to_date() { [[ -x $bin/$1 && -f $bin/.$1.stamp && $(<"$bin/.$1.stamp") == "$2" ]]; }

# put_in_place NAME STAMP: swaps the new program for the old one, so that a running one is not disturbed and a half-written one is never seen.
put_in_place() {
  mv "$bin/.$1.new" "$bin/$1"
  printf '%s\n' "$2" >"$bin/.$1.stamp"
}
