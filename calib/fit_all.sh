#!/bin/bash
# Fits the published tables that the shipped profiles rest on, and prints how far off each fit and
# each shipped profile is, in the form of the tables of docs/accuracy/kernels.md. Usage: calib/fit_all.sh
# TABLES_FOLDER [OUTPUT_FOLDER]
#
# TABLES_FOLDER has tables that were extracted from the sources that the profiles name, one file for
# each, as CSV with the columns that are named below. This script gives them the heads that `stepsim
# calibrate fit` asks for (docs/calibration.md); they do not say their GPU, for --base does. The
# profiles are written to calib/ in OUTPUT_FOLDER (default: a new one), and nothing in the
# repository changes.
set -euo pipefail
tables=$(cd "$1" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${2:-$(mktemp -d)}
mkdir -p "$out/calib/gpus" "$out/calib/links"
out=$(cd "$out" && pwd)
export STEPSIM_LIBRARY=$out  # profiles that are fitted here can be bases of later ones

# table NAME HEAD...: writes the rows on standard input under a head.
table() {
  local name=$1
  shift
  { printf '# %s\n' "$@"; cat; } >"$out/$name.csv"
}

# rows COLUMN VALUE: the rows of a table whose COLUMN has that VALUE; the columns' names stay for
# the reader.
rows() { awk -F, -v column="$2" -v value="$3" '
  NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i; print; next }
  $at == value' "$tables/$1"; }

# attention NAME KERNEL TABLE CACHE: a table of forward passes of inference engines.
attention() {
  table "$1" kind=attention "kernel=$2" "cache_write=$4" pass=forward column.sequence=seq \
    column.heads=heads_q column.kv_heads=heads_kv ignore=pass,kernel,tflops,source <"$tables/$3"
}

# collectives NAME TABLE: a table of collectives.
collectives() {
  rows "$2" dtype half | table "$1" kind=collective column.op=collective \
    ignore=nodes,algbw_gbytes_s,busbw_gbytes_s,source
}

# memory_rows TABLE: ops of NeuSight, vidur and cuDNN's benchmarks under the names of
# docs/calibration.md; a point that is there several times (for several models, say) counts once, by
# its first row.
memory_rows() { awk -F, -v OFS=, '
  BEGIN {
    split("add_fwd add mul_fwd add add add relu_fwd copy tanh_fwd copy layernorm_fwd norm " \
          "input_layernorm norm softmax_fwd softmax layer_norm_fwd norm rms_norm_fwd norm", words, " ")
    for (i = 1; i in words; i += 2) known[words[i]] = words[i + 1]
  }
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; print; next }
  # NeuSight ran eager PyTorch, one kernel at a time: below 64 MiB it timed its host.
  $at["op"] in known && ($at["source"] !~ /neusight/ || $at["bytes_moved"] >= 67108864) {
    $at["op"] = known[$at["op"]]
    if (!seen[$at["op"], $at["dtype"], $at["rows"], $at["cols"]]++) print
  }' "$tables/$1"; }

# gemm_rows TABLE ROWS COLUMNS [TYPE]: m, n, k, layout and time of GEMMs of at least so many rows and
# columns; a product that is there several times counts once, by its first row. A layout is the one
# of the file, or that of DeepBench's column-major matrices, in which m and n have changed places;
# SimuMax's gradients are those that are added to fp32 ones. TYPE: rows of that dtype alone.
gemm_rows() { awk -F, -v OFS=, -v rows="$2" -v columns="$3" -v type="${4:-}" '
  NR == 1 {
    for (i = 1; i <= NF; ++i) at[$i] = i
    print "m,n,k,transpose,accumulate,time_us"
    next
  }
  {
    if (type != "" && $at["dtype"] != type) next
    m = $at["m"]; n = $at["n"]; k = $at["k"]; layout = "TN"; accumulate = "false"
    if ("layout" in at) { layout = $at["layout"]; accumulate = tolower($at["accumulate"]) }
    if ("trans_a" in at) { layout = $at["trans_a"] $at["trans_b"]; m = $at["n"]; n = $at["m"] }
  }
  m < rows || n < columns || k < columns || accumulate == "true" && $at["out_dtype"] != "fp32" { next }
  !seen[m, n, k, layout]++ { print m, n, k, layout, accumulate, $at["time_us"] }' "$tables/$1"; }

# gemm NAME TABLE DTYPE [HEAD...]: a table of all products. Tests on other tables keep to the sizes
# of the first one.
gemm() { gemm_rows "$2" 1 1 | table "$1" kind=gemm "dtype=$3" "${@:4}"; }

# fp4 NAME TABLE: a table's products in nvfp4. Activations are quantised within the time: 2 B are
# read and 9/16 B written.
fp4() { gemm_rows "$2" 1 1 nvfp4 | table "$1" kind=gemm dtype=nvfp4 quantised_bytes=3; }
large_gemm() { gemm_rows "$2" 128 512 | table "$1" kind=gemm "dtype=$3" "${@:4}"; }

# calibrate NAME BASE TABLE...: prints the report as Markdown.
calibrate() {
  local name=$1 base=$2 files=() link=() table
  shift 2
  for table in "$@"; do
    files+=("$out/$table.csv")
    [[ $table != *-collectives ]] || link=(--link "$out/calib/links/$name.yaml")
  done
  "$root/build/stepsim" calibrate fit "${files[@]}" -o "$out/calib/gpus/$name.yaml" --base "$base" \
    "${link[@]}" --format markdown
}

# fit NAME BASE TABLE...: prints a row of the first table for each family.
fit() { calibrate "$@" | tail -n +3 | sed "s/^/| $1 /"; }

# bare_form NAME: writes a fitted profile without its correction, as NAME-form.
bare_form() {
  awk '/^    correction:$/ { inside = 1; next } inside && /^      / { next } { inside = 0; print }' \
    "$out/calib/gpus/$1.yaml" | sed "s/^name: .*/name: $1-form/" >"$out/calib/gpus/$1-form.yaml"
}

# errors_by BASE TABLE: points, and how far the profile is off in the mean, for each family of a
# table.
errors_by() { calibrate other "$1" "$2" | awk -F' *[|] *' 'NR > 2 { print $2 "|" $3 "|" $8 }'; }

# other_table GPU NAME LABEL TABLE [SUSTAINED]: prints a row of the second table for each family:
# how far the fit NAME is off on a table of another laboratory, and how far with its factor for
# running models.
other_table() {
  local form full sustained=
  form=$(errors_by "$2-form" "$4")
  full=$(errors_by "$2" "$4")
  [[ $# -lt 5 ]] || sustained=$(errors_by "$2" "$5")
  paste -d'|' <(echo "$form") <(echo "$full") <(echo "$sustained") |
    awk -F'|' -v gpu="$1" -v label="$3" '{
      layout = $1
      sub(/^gemm [a-z0-9]*(, )?/, "", layout)
      printf "| %s | %s | %d | %s | %s | %s |\n", gpu, label (layout == "" ? "" : ", " layout), $2, $3,
        $6, $9 == "" ? "-" : $9
    }'
}

echo '| table | family | points | mean | median | 90th | large | shipped: mean | large |'
echo '|---|---|---|---|---|---|---|---|---|'

collectives a100-collectives a100-sxm-80_collectives_aic-nccl2.27.3.csv
collectives h100-collectives h100-sxm_collectives_aic-nccl2.29.2.csv
collectives h200-collectives h200-sxm_collectives_aic-nccl2.29.2.csv
collectives b200-collectives b200-sxm_collectives_aic-nccl2.29.2.csv
fit nvlink3 a100-80 a100-collectives
fit nvlink4 h100 h100-collectives h200-collectives
fit nvlink5 b200 b200-collectives

# memory NAME TABLE IGNORED [HEAD]: a table of kernels that move bytes.
memory() {
  memory_rows "$2" | table "$1" kind=memory column.columns=cols column.bytes=bytes_moved "ignore=$3" "${@:4}"
}
memory v100-neusight v100-pcie-32_membound_neusight.csv split,gbytes_s,source with_launch=true
memory a100-40-neusight a100-pcie-40_membound_neusight.csv split,gbytes_s,source with_launch=true
memory a100-80-neusight a100-pcie-80_membound_neusight.csv split,gbytes_s,source with_launch=true
memory a100-vidur a100-80_membound_vidur.csv model,gbytes_s,source
memory h100-vidur h100-80_membound_vidur.csv model,gbytes_s,source
fit v100-neusight v100 v100-neusight
fit a100-40-neusight a100-40 a100-40-neusight
fit a100-80-neusight a100-80 a100-80-neusight
fit a100-vidur a100-80 a100-vidur
fit h100-vidur h100 h100-vidur

# deepbench_convolutions TABLE: DeepBench's ResNet and Vision shapes with more channels than a
# picture has; a shape that is there twice counts once, by its first row.
deepbench_convolutions() { awk -F, '
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; print; next }
  ($at["app"] == "Resnet" || $at["app"] == "Vision") && $at["c_in"] > 3 {
    shape = $at["pass"]
    for (i = at["batch"]; i <= at["pad_w"]; ++i) shape = shape FS $i
    if (!seen[shape]++) print
  }' "$tables/$1"; }

# convolutions NAME TABLE: a table of convolutions.
convolutions() {
  deepbench_convolutions "$2" | sed 's/,fp\(16\|32\)-[a-z]*,/,fp\1,/' | table "$1" kind=convolution \
    column.channels=c_in column.filters=c_out column.height=in_h column.width=in_w \
    column.filter_height=kernel_h column.filter_width=kernel_w column.stride=stride_h column.pad=pad_h \
    ignore=app,stride_w,pad_w,gflop,tflops_direct,source
}
convolutions v100-conv-fp16 v100-sxm_conv_fp16_deepbench.csv
convolutions v100-conv-fp32 v100-sxm_conv_fp32_deepbench.csv
fit v100-convolutions v100 v100-conv-fp16 v100-conv-fp32

attention a100-sglang flash2 a100-sxm-80_attention_causal_aic-sglang0.5.10.csv true
attention a100-vllm flash2 a100-sxm-80_attention_causal_aic-vllm0.14.0.csv true
attention h100-causal flash3 h100-sxm_attention_causal_aic-vllm0.24.0.csv true
attention h100-full flash3 h100-sxm_attention_noncausal_aic-vllm0.24.0.csv false
attention h200-causal flash3 h200-sxm_attention_causal_aic-vllm0.24.0.csv true
attention h200-full flash3 h200-sxm_attention_noncausal_aic-vllm0.24.0.csv false
attention b200-trtllm cudnn b200-sxm_attention_causal_aic-trtllm1.3.0rc20.csv true
attention b200-vllm cudnn b200-sxm_attention_causal_aic-vllm0.24.0.csv true
attention b200-full flash4 b200-sxm_attention_noncausal_aic-vllm0.24.0.csv false
fit a100-sglang a100-80 a100-sglang
fit a100-vllm a100-80 a100-vllm
fit h100-causal h100 h100-causal
fit h100-full h100 h100-full
fit h200-causal h200 h200-causal
fit h200-full h200 h200-full
fit b200-trtllm b200 b200-trtllm
fit b200-vllm b200 b200-vllm
fit b200-full b200 b200-full

# Dynamic quantisation reads A for its maximum, reads it again and writes it: 5 bytes an element, most
# of which L40S finds in its L2 cache (calib/gpus/l40s.yaml).
gemm a100-bf16 a100-sxm-80_gemm_bf16_aic-sglang0.5.10.csv bf16
gemm a100-fp32 a100-pcie-80_gemm_fp32_neusight.csv fp32
gemm h100-bf16 h100-sxm_gemm_bf16_aic-trtllm1.3.0rc20.csv bf16
gemm h100-fp32 h100-sxm_gemm_fp32_neusight.csv fp32
gemm h100-fp8 h100-sxm_gemm_fp8_aic-trtllm1.3.0rc20.csv fp8 quantised_bytes=5
gemm h200-bf16 h200-sxm_gemm_bf16_aic-trtllm1.3.0rc20.csv bf16
gemm h200-fp8 h200-sxm_gemm_fp8_aic-trtllm1.3.0rc20.csv fp8 quantised_bytes=5
gemm b200-bf16 b200-sxm_gemm_bf16_aic-trtllm1.3.0rc20.csv bf16
gemm b200-simumax b200-sxm_gemm_bf16_simumax.csv bf16
gemm b200-fp8 b200-sxm_gemm_fp8_aic-trtllm1.3.0rc20.csv fp8 quantised_bytes=5
gemm gb200-bf16 gb200_gemm_bf16_aic-trtllm1.3.0rc20.csv bf16
gemm gb200-fp8 gb200_gemm_fp8_aic-trtllm1.3.0rc20.csv fp8 quantised_bytes=5
gemm l40s-bf16 l40s_gemm_bf16_aic-trtllm1.3.0rc20.csv bf16
gemm l40s-fp8 l40s_gemm_fp8_aic-trtllm1.3.0rc20.csv fp8 quantised_bytes=2
for gpu in b200 b300; do fp4 $gpu-nvfp4 $gpu-sxm_gemm_aic-trtllm1.3.0rc20.csv; done
for gpu in gb200 gb300 rtx-pro-6000; do fp4 $gpu-nvfp4 ${gpu}_gemm_aic-trtllm1.3.0rc20.csv; done
gemm v100-fp16 v100-sxm_gemm_fp16_deepbench.csv fp16
gemm v100-fp32 v100-sxm_gemm_fp32_deepbench.csv fp32
for name in a100-bf16 a100-fp32; do fit $name a100-80 $name; done
for name in h100-bf16 h100-fp32 h100-fp8; do fit $name h100 $name; done
for name in h200-bf16 h200-fp8; do fit $name h200 $name; done
for name in b200-bf16 b200-fp8; do fit $name b200 $name; done
fit b200-simumax b200-simumax b200-simumax
for name in gb200-bf16 gb200-fp8; do fit $name gb200 $name; done
for name in l40s-bf16 l40s-fp8; do fit $name l40s $name; done
for gpu in b200 b300 gb200 gb300 rtx-pro-6000; do fit $gpu-nvfp4 $gpu $gpu-nvfp4; done
for name in v100-fp16 v100-fp32; do fit $name v100 $name; done

echo
echo '| GPU | tested on | points | closed form | with correction | with correction and `sustained` |'
echo '|---|---|---|---|---|---|'
for name in a100-bf16 h100-bf16 h200-bf16 b200-bf16 gb200-bf16; do bare_form $name; done
large_gemm a100-trtllm a100-sxm-80_gemm_bf16_aic-trtllm1.0.0.csv bf16
large_gemm a100-gemm-vllm a100-sxm-80_gemm_bf16_aic-vllm0.14.0.csv bf16
large_gemm h100-gemm-vllm h100-sxm_gemm_bf16_aic-vllm0.24.0.csv bf16
large_gemm h200-gemm-vllm h200-sxm_gemm_bf16_aic-vllm0.24.0.csv bf16
large_gemm b200-gemm-vllm b200-sxm_gemm_bf16_aic-vllm0.24.0.csv bf16
large_gemm gb200-gemm-vllm gb200_gemm_bf16_aic-vllm0.24.0.csv bf16
# Kernels of training, and those of a running model: once as they are, once as what `sustained` is
# for.
for state in short sustained; do
  head=sustained=$([[ $state == sustained ]] && echo true || echo false)
  large_gemm a100-simumax-$state a100-pcie_gemm_bf16_simumax.csv bf16 "$head"
  large_gemm a100-gemm-vidur-$state a100-80_gemm_fp16_vidur.csv bf16 "$head"
  large_gemm h100-gemm-vidur-$state h100-80_gemm_fp16_vidur.csv bf16 "$head"
done
other_table A100 a100-bf16 TensorRT-LLM a100-trtllm
other_table A100 a100-bf16 vLLM a100-gemm-vllm
other_table A100 a100-bf16 'SimuMax, a PCIe card' a100-simumax-short a100-simumax-sustained
other_table A100 a100-bf16 Vidur a100-gemm-vidur-short a100-gemm-vidur-sustained
other_table H100 h100-bf16 vLLM h100-gemm-vllm
other_table H100 h100-bf16 Vidur h100-gemm-vidur-short h100-gemm-vidur-sustained
other_table H200 h200-bf16 vLLM h200-gemm-vllm
other_table B200 b200-bf16 vLLM b200-gemm-vllm
other_table GB200 gb200-bf16 vLLM gb200-gemm-vllm
