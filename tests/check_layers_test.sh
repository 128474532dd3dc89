#!/bin/bash
# Checks the checker: in a small tree it must name each wrong include, and only those.
set -euo pipefail
check=$(dirname "${BASH_SOURCE[0]}")/check_layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/calib "$tree"/validate/trainer "$tree"/sim/{core,ops,cluster,plan,report,engine}

cat >"$tree/sim/plan/right.cpp" <<'EOF'
#include "sim/cluster/cluster.hpp"
#include "sim/scenario/load.hpp"
#include <boost/graph/adjacency_list.hpp>
EOF
echo '#include "sim/scenario/gpu.hpp"' >"$tree/sim/cluster/right.hpp"
echo '#include <cuda_runtime.h>' >"$tree/calib/right.cu"
cat >"$tree/validate/trainer/cuda_device.cpp" <<'EOF'
#include <cuda_runtime_api.h>
#include "calib/cuda/device.hpp"
#include "validate/trainer/device.hpp"
EOF
cat >"$tree/validate/trainer/right.cpp" <<'EOF'
#include <CLI/CLI.hpp>
#include "calib/cpu/ranks.hpp"
#include "sim/core/quantile.hpp"
#include "tests/harness.hpp"
EOF
"$check" "$tree" || { echo "a correct tree was refused"; exit 1; }

cat >"$tree/sim/ops/wrong.hpp" <<'EOF'
// An op that knows the plan, reads files and talks to a GPU.
#include "sim/plan/plan.hpp"
#include "sim/core/error.hpp"
  #  include <yaml-cpp/yaml.h>
#include "sim/scenario/load.hpp"
#include <cuda_runtime.h>
EOF
echo '#include "sim/scenario/gpu.hpp"' >"$tree/sim/core/wrong.hpp"
echo '#include <simgrid/s4u.hpp>' >"$tree/sim/report/wrong.cpp"
echo '#include "plan.hpp"' >"$tree/sim/engine/wrong.cpp"
cat >"$tree/validate/trainer/wrong.cpp" <<'EOF'
#include <nccl.h>
#include "calib/cuda/device.hpp"
#include "sim/plan/plan.hpp"
#include "device.hpp"
EOF

if found=$("$check" "$tree"); then
  echo "a tree with wrong includes was accepted"
  exit 1
fi
diff <(sort <<'EOF'
sim/core/wrong.hpp:1: core may not include sim/scenario/gpu.hpp
sim/engine/wrong.cpp:1: engine may not include plan.hpp: its name has to start at the root, like sim/
sim/ops/wrong.hpp:2: ops may not include sim/plan/plan.hpp
sim/ops/wrong.hpp:4: ops may not include yaml-cpp/yaml.h
sim/ops/wrong.hpp:5: ops may not include sim/scenario/load.hpp
sim/ops/wrong.hpp:6: ops may not include cuda_runtime.h
sim/report/wrong.cpp:1: report may not include simgrid/s4u.hpp
validate/trainer/wrong.cpp:1: validate may not include nccl.h
validate/trainer/wrong.cpp:2: validate may not include calib/cuda/device.hpp
validate/trainer/wrong.cpp:3: validate may not include sim/plan/plan.hpp
validate/trainer/wrong.cpp:4: validate may not include device.hpp: its name has to start at the root, like sim/
EOF
) <(sort <<<"$found")
