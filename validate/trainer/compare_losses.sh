#!/bin/bash
# Checks that a trainer comes to the losses of another trainer; exits with 77 where it has no
# device. Usage: compare_losses.sh PROGRAM OTHER
set -euo pipefail

# losses PROGRAM WIDTH: prints the losses of the first step and of the last.
losses() {
  "$1" --layers 3 --width "$2" --batch 16 --steps 40 | awk -F, 'NR == 2 { print $10, $11 }'
}

# Layers of 51 x 51 begin at multiples of 4 bytes, and of nothing larger. Losses may differ by
# rounding, as between one rank and two (trainer_test.cpp).
for width in 48 51; do
  code=0
  other=$(losses "$2" "$width") || code=$?
  ((code != 3)) || exit 77
  ((code == 0)) || { echo "$2 exits with $code"; exit 1; }
  own=$(losses "$1" "$width")
  awk -v own="$own" -v other="$other" 'BEGIN {
    if (split(own, a, " ") != 2 || split(other, b, " ") != 2) exit 1
    for (i = 1; i <= 2; i++) {
      off = (b[i] - a[i]) / a[i]
      if (off < 0) off = -off
      if (!(off <= (i == 1 ? 1e-5 : 1e-3))) exit 1
    }
  }' || { echo "width $width: first and last loss are $own, of the other program $other"; exit 1; }
done
