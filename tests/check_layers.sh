#!/bin/bash
# Checks that includes point one way; names each offence as file:line. Usage: check_layers.sh [ROOT]
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 2

# What each room may include of sim/. The plain structs of a scenario are open to all but core.
declare -A sees=(
  [core]="core" [scenario]="core scenario" [ops]="core ops" [cluster]="core ops cluster"
  [horizon]="core horizon" [measurement]="core measurement" [calib]="core measurement"
  [fit]="core ops cluster measurement fit"
  [timeline]="core timeline" [validation]="core timeline validation"
  [sweep]="core timeline sweep" [store]="core timeline sweep store"
  [plan]="core scenario ops cluster timeline plan" [validate]="core validation")
sees[search]="${sees[plan]} search"
sees[engine]="${sees[plan]} engine"
sees[report]="${sees[engine]} search horizon validation sweep report"
sees[command]="${sees[report]} measurement fit store command"
sees[cli]="${sees[command]} cli"
sees[main.cpp]="${sees[cli]}"
plain_structs='^sim/scenario/(scenario|axis|model|gpu|faults|input|channel_padding|expert_nodes|checkpoint|horizon|run_record|tolerance)\.hpp$'

# Which rooms may include a library, by the beginning of its headers' names.
declare -A rooms_of=(
  ["yaml-cpp/"]="scenario" ["muparserx/"]="scenario" ["simgrid/"]="engine" ["boost/graph/"]="ops cluster plan"
  ["nlohmann/"]="measurement store report command" ["SQLiteCpp/"]="store" ["nlopt"]="fit" ["Eigen/"]="fit" ["CLI/"]="cli main.cpp calib validate" ["pugixml"]="report command"
  ["cblas"]="calib" ["cublas"]="calib" ["mpi"]="calib" ["cuda"]="calib" ["cudnn"]="calib" ["nccl"]="calib")

# Beside them, one file may include: the trainer's device for GPUs is written with CUDA, and ranks of
# a sweep are MPI's.
declare -A also=([validate/trainer/cuda_device.cpp]="cuda nccl calib/cuda/"
  [sim/command/mpi_ranks.cpp]="mpi.h")

includes=0 offences=0
refuse() { echo "$1: $2 may not include $3"; offences=$((offences + 1)); }
contains() { [[ " $1 " == *" $2 "* ]]; }
# excepted FILE HEADER
excepted() {
  local begin
  for begin in ${also[$1]-}; do [[ $2 != "$begin"* ]] || return 0; done
  return 1
}

while IFS=: read -r file line text; do
  [[ $text =~ ([\<\"])([^\>\"]+) ]] || continue
  quote=${BASH_REMATCH[1]} header=${BASH_REMATCH[2]} includes=$((includes + 1))
  excepted "$file" "$header" && continue
  [[ $file =~ ^(sim/)?([^/]+) ]] && room=${BASH_REMATCH[2]}
  if [[ $header =~ ^sim/([^/]+) ]]; then
    contains "${sees[$room]-core}" "${BASH_REMATCH[1]}" ||
      [[ $room != core && $header =~ $plain_structs ]] || refuse "$file:$line" "$room" "$header"
  elif [[ $room == validate && $header == calib/cuda/* ]]; then
    refuse "$file:$line" "$room" "$header"
  elif [[ $quote == \" && $room == validate && $header =~ ^(validate|calib|tests)/ ]]; then
    continue
  elif [[ $quote == \" && $room != calib ]]; then
    refuse "$file:$line" "$room" "$header: its name has to start at the root, like sim/"
  fi
  for library in "${!rooms_of[@]}"; do
    [[ $header != "$library"* ]] || contains "${rooms_of[$library]}" "$room" ||
      refuse "$file:$line" "$room" "$header"
  done
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include' --include='*.[ch]pp' --include='*.cu' sim calib validate)

((includes > 0 && offences == 0))
