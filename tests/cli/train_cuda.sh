#!/bin/bash
# Checks what the trainer for GPUs says and how it exits where there is no GPU.
# Usage: train_cuda.sh PROGRAM
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export CUDA_VISIBLE_DEVICES=-1

# expect CASE CODE [ARGUMENT...]: exits with CODE; what it prints is in out and err.
expect() {
  local code=0
  "$program" "${@:3}" >out 2>err </dev/null || code=$?
  ((code == $2)) || { echo "$1: exits with $code instead of $2"; cat err; exit 1; }
}
fail() { echo "$1"; cat out err; exit 1; }

expect "without a GPU" 3 --layers 2 --width 64 --batch 8
grep -qE '^stepsim-train-cuda: nothing to train on: there is no NVIDIA (GPU|driver) on this machine$' err ||
  fail "without a GPU it does not say so"
(($(wc -l <err) == 1)) || fail "without a GPU it says more than one sentence"
[[ ! -s out ]] || fail "without a GPU it prints a row"
expect "a wrong option" 2 --layer 2
expect "a wrong number" 2 --bucket 4MB
expect "help" 0 --help
grep -q "on a GPU" out || fail "--help does not say what it trains on"
grep -q -- "--bucket" out || fail "--help has no options"
