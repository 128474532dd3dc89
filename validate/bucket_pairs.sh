#!/bin/bash
# Whether small buckets cost what they did: pairs of rows of PyTorch's DDP benchmark that differ in
# nothing but the size of their buckets, 1 MB and 25 MB. Prints how much longer the step with small
# ones takes, measured and predicted; fails where the sign is wrong in more than one pair of ten.
# Usage: bucket_pairs.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")"
"$program" validate suites/ddp_buckets.yaml --format csv |
  awk -F'"' '/^ddp_buckets,/ {
    split($2, word, ", "); split($3, cell, ",")  # model, GPUs, bucket, version; groups, measured, predicted
    row = word[1] ", " word[2] ", " word[4]
    measured[row, word[3]] = cell[3]; predicted[row, word[3]] = cell[4]
    if (!(row in seen)) { seen[row] = 1; rows[++n] = row }
  }
  END {
    printf "%-28s%10s%11s\n", "1 MB against 25 MB", "measured", "predicted"
    for (i = 1; i <= n; ++i) {
      row = rows[i]
      if (!((row, "1 MB") in measured) || !((row, "25 MB") in measured)) continue
      was = measured[row, "1 MB"] / measured[row, "25 MB"] - 1
      is = predicted[row, "1 MB"] / predicted[row, "25 MB"] - 1
      alike = was * is > 0
      right += alike; ++pairs
      printf "%-28s%+8.2f %%%+9.2f %%%s\n", row, 100 * was, 100 * is, alike ? "" : "  wrong"
    }
    printf "%d of %d pairs have the right sign\n", right, pairs
    exit !(pairs >= 20 && right >= 0.9 * pairs)
  }'
