#!/bin/bash
# Checks what the trainer for GPUs says and how it exits where there is no GPU.
# Usage: train_cuda.sh PROGRAM
source "$(dirname -- "${BASH_SOURCE[0]}")/without_gpu.sh"

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
