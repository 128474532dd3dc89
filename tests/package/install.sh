#!/bin/bash
# Checks that an installed program, moved and called from another folder, needs nothing of the tree that it was
# built in. Usage: install.sh CMAKE BUILD_FOLDER
set -euo pipefail
cmake=$1 build=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "$1"; cat "$scratch/out" "$scratch/err"; exit 1; }

# expect CASE CODE COMMAND...: exits with CODE, in a clean environment and a folder that has nothing.
expect() {
  local code=0
  (cd "$scratch/elsewhere" && env -i PATH=/usr/bin:/bin "${@:3}") >"$scratch/out" 2>"$scratch/err" || code=$?
  ((code == $2)) || fail "$1: exits with $code instead of $2"
}
prints() { grep -qF -- "$1" "$scratch/out" || fail "not on stdout: $1"; }
says() { grep -qF -- "$1" "$scratch/err" || fail "not on stderr: $1"; }

mkdir "$scratch/elsewhere"
"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/out" 2>"$scratch/err" || fail "cmake --install failed"
prefix="$scratch/another place"
mv "$scratch/first" "$prefix"
program=$prefix/bin/stepsim library=$prefix/share/stepsim
scenario=$library/scenarios/mlp-buckets-8xv100.yaml

expect "models are listed" 0 "$program" list models
prints llama3-8b
expect "a scenario runs" 0 "$program" run "$scenario" --format json
env -u STEPSIM_LIBRARY "$build/stepsim" run "$scenario" --format json | cmp - "$scratch/out" ||
  fail "another answer than where it was built"
expect "a module is found" 0 "$program" run "$scenario" --engine simgrid
ln -s "$program" "$scratch/linked"
expect "a link to the program will do" 0 "$scratch/linked" list gpus
prints h100
if command -v help2man >/dev/null; then
  expect "every command has a manual page" 0 gzip -dc "$prefix/share/man/man1/stepsim-calibrate-fit.1.gz"
  prints "profile for what was not measured"
fi

# What is missing stays missing, though the tree that it was built in has it.
mv "$prefix/lib/stepsim" "$scratch/lib"
expect "without its modules" 4 "$program" run "$scenario" --engine simgrid
says "a part of stepsim is missing: $prefix/lib/stepsim/libstepsim_simgrid.so"
mkdir "$scratch/hidden"
mv "$library/models" "$scratch/hidden"
expect "without models" 4 "$program" list models
says "nothing to list: no folder of the library has files in models/"
says "$library"
mv "$library"/{calib,scenarios} "$scratch/hidden"
expect "without a library" 4 "$program" list gpus
says "there are no models, GPUs, links and clusters in any of"
says "$scratch/elsewhere and the folders above it"
says "$library (beside the program)"
expect "with a library of its own" 0 env "STEPSIM_LIBRARY=$scratch/hidden" "$program" list gpus
prints h100
expect "a library that is not there" 2 env STEPSIM_LIBRARY=/no/such/folder "$program" list gpus
says "STEPSIM_LIBRARY: there is no folder '/no/such/folder'"
