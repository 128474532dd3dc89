#!/bin/bash
# Checks whether small buckets cost what they were measured to cost: takes pairs of rows of
# PyTorch's DDP benchmark that differ in nothing but the size of their buckets, 1 MB and 25 MB.
# Prints how much longer the step with small buckets takes, as the benchmark prints it and as
# predicted; fails where the sign is wrong in more than one pair of ten.
# Usage: bucket_pairs.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"
"$program" validate suites/ddp_buckets.yaml --format csv |
  awk -F'"' 'FNR == NR {
    if (split($1, field, ",") == 7 && field[7] != "")  # version,model,ddp,bucket_mb,gpus,iter_time_s,small_cost
      cost[field[2] ", " field[5] " GPUs, " field[1]] = field[7]
    next
  }
  /^ddp_buckets,/ {
    split($2, word, ", "); split($3, cell, ",")  # model, GPUs, bucket, version; groups, measured, predicted
    row = word[1] ", " word[2] ", " word[4]
    predicted[row, word[3]] = cell[4]
    if (!(row in seen)) { seen[row] = 1; rows[++n] = row }
  }
  END {
    printf "%-36s%10s%11s\n", "1 MB against 25 MB", "measured", "predicted"
    for (i = 1; i <= n; ++i) {
      row = rows[i]
      if (!(row in cost)) continue
      is = 100 * (predicted[row, "1 MB"] / predicted[row, "25 MB"] - 1)
      alike = cost[row] * is > 0
      right += alike; ++pairs
      printf "%-36s%+8.1f %%%+9.2f %%%s\n", row, cost[row], is, alike ? "" : "  wrong"
    }
    printf "%d of %d pairs have the right sign\n", right, pairs
    exit !(pairs >= 30 && right >= 0.9 * pairs)
  }' suites/ddp_buckets.csv -
