#!/bin/bash
# Fits the published tables that the shipped profiles rest on, and prints how far off each fit and
# each shipped profile is, as the table of docs/accuracy.md. Usage: calib/fit_all.sh TABLES_FOLDER [OUTPUT_FOLDER]
#
# TABLES_FOLDER has tables that were extracted from the sources that the profiles name, one file for
# each, as CSV with the columns that are named below. Here they get the heads that `stepsim calibrate
# fit` asks for (docs/calibration.md); the profiles are written to OUTPUT_FOLDER (default: a new one)
# beside these tables, and nothing in the repository changes.
set -euo pipefail
tables=$(cd "$1" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${2:-$(mktemp -d)}
mkdir -p "$out"

# table NAME DEVICE HEAD...: the rows on standard input under a head.
table() {
  local name=$1 device=$2
  shift 2
  { printf '# %s\n' "device.name=$device" "$@"; cat; } >"$out/$name.csv"
}

# The rows of a table whose COLUMN has that VALUE; the column's name stays for the reader.
rows() { awk -F, -v column="$2" -v value="$3" '
  NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i; print; next }
  $at == value' "$tables/$1"; }

# attention NAME DEVICE KERNEL TABLE CACHE: forward passes of inference engines.
attention() {
  table "$1" "$2" kind=attention "kernel=$3" "cache_write=$5" pass=forward column.sequence=seq \
    column.heads=heads_q column.kv_heads=heads_kv ignore=pass,kernel,tflops,source <"$tables/$4"
}

# collectives NAME DEVICE TABLE
collectives() {
  rows "$3" dtype half | table "$1" "$2" kind=collective column.op=collective \
    ignore=nodes,algbw_gbytes_s,busbw_gbytes_s,source
}

# The ops of NeuSight, vidur and cuDNN's benchmarks as those of docs/calibration.md; of a point that is
# there several times (for several models, say) the first.
memory_rows() { awk -F, -v OFS=, '
  BEGIN {
    split("add_fwd add mul_fwd add add add relu_fwd copy tanh_fwd copy layernorm_fwd norm " \
          "input_layernorm norm softmax_fwd softmax layer_norm_fwd norm rms_norm_fwd norm", words, " ")
    for (i = 1; i in words; i += 2) known[words[i]] = words[i + 1]
  }
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; print; next }
  # Eager PyTorch of one kernel at a time: below 64 MiB, NeuSight timed its host.
  $at["op"] in known && ($at["source"] !~ /neusight/ || $at["bytes_moved"] >= 67108864) {
    $at["op"] = known[$at["op"]]
    if (!seen[$at["op"], $at["dtype"], $at["rows"], $at["cols"]]++) print
  }' "$tables/$1"; }

# One row of Markdown a family, from the pretty-printed JSON of a report.
markdown_rows() { awk -v table="$1" '
  function share(key) { return key in value ? sprintf("%.1f %%", 100 * value[key]) : "-" }
  function flush_row() {
    if (value["fitted"] == "true")
      printf "| %s | %s | %d | %s | %s | %s | %s | %s | %s |\n", table, value["family"], value["points"],
        share("mean_error"), share("median_error"), share("p90_error"), share("large_mean_error"),
        share("base_mean_error"), share("base_large_mean_error")
    delete value
  }
  /^    {/ { delete value }
  match($0, /^      "[a-z0-9_]+": /) {
    key = substr($0, 8, RLENGTH - 10)
    text = substr($0, RLENGTH + 1)
    gsub(/^"|"?,?$/, "", text)
    value[key] = text
  }
  /^    }/ { flush_row() }'; }

# fit NAME BASE TABLE...
fit() {
  local name=$1 base=$2 files=() link=() table
  shift 2
  for table in "$@"; do
    files+=("$out/$table.csv")
    [[ $table != *-collectives ]] || link=(--link "$out/$name-link.yaml")
  done
  "$root/build/stepsim" calibrate fit "${files[@]}" -o "$out/$name.yaml" --base "$base" "${link[@]}" \
    --format json | markdown_rows "$name"
}

echo '| table | family | points | mean | median | 90th | large | shipped: mean | large |'
echo '|---|---|---|---|---|---|---|---|---|'
A100='NVIDIA A100-SXM4-80GB' H100='NVIDIA H100 80GB HBM3' H200='NVIDIA H200' B200='NVIDIA B200'

collectives a100-collectives "$A100" a100-sxm-80_collectives_aic-nccl2.27.3.csv
collectives h100-collectives "$H100" h100-sxm_collectives_aic-nccl2.29.2.csv
collectives h200-collectives "$H100" h200-sxm_collectives_aic-nccl2.29.2.csv
collectives b200-collectives "$B200" b200-sxm_collectives_aic-nccl2.29.2.csv
fit nvlink3 a100-80 a100-collectives
fit nvlink4 h100 h100-collectives h200-collectives
fit nvlink5 b200 b200-collectives

memory() {
  memory_rows "$3" | table "$1" "$2" kind=memory column.columns=cols column.bytes=bytes_moved "ignore=$4"
}
memory v100-neusight 'Tesla V100' v100-pcie-32_membound_neusight.csv split,gbytes_s,source
memory a100-40-neusight 'NVIDIA A100-PCIE-40GB' a100-pcie-40_membound_neusight.csv split,gbytes_s,source
memory a100-80-neusight "$A100" a100-pcie-80_membound_neusight.csv split,gbytes_s,source
memory a100-vidur "$A100" a100-80_membound_vidur.csv model,gbytes_s,source
memory h100-vidur "$H100" h100-80_membound_vidur.csv model,gbytes_s,source
fit v100-neusight v100 v100-neusight
fit a100-40-neusight a100-40 a100-40-neusight
fit a100-80-neusight a100-80 a100-80-neusight
fit a100-vidur a100-80 a100-vidur
fit h100-vidur h100 h100-vidur

attention a100-sglang "$A100" flash2 a100-sxm-80_attention_causal_aic-sglang0.5.10.csv true
attention a100-vllm "$A100" flash2 a100-sxm-80_attention_causal_aic-vllm0.14.0.csv true
attention h100-causal "$H100" flash3 h100-sxm_attention_causal_aic-vllm0.24.0.csv true
attention h100-full "$H100" flash3 h100-sxm_attention_noncausal_aic-vllm0.24.0.csv false
attention h200-causal "$H200" flash3 h200-sxm_attention_causal_aic-vllm0.24.0.csv true
attention h200-full "$H200" flash3 h200-sxm_attention_noncausal_aic-vllm0.24.0.csv false
attention b200-trtllm "$B200" cudnn b200-sxm_attention_causal_aic-trtllm1.3.0rc20.csv true
attention b200-vllm "$B200" cudnn b200-sxm_attention_causal_aic-vllm0.24.0.csv true
attention b200-full "$B200" flash4 b200-sxm_attention_noncausal_aic-vllm0.24.0.csv false
fit a100-sglang a100-80 a100-sglang
fit a100-vllm a100-80 a100-vllm
fit h100-causal h100 h100-causal
fit h100-full h100 h100-full
fit h200-causal h200 h200-causal
fit h200-full h200 h200-full
fit b200-trtllm b200 b200-trtllm
fit b200-vllm b200 b200-vllm
fit b200-full b200 b200-full
