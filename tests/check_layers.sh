#!/bin/bash
# Checks that includes point one way; names each offence as file:line. Usage: check_layers.sh [ROOT]
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 2

# What each room may include of sim/; calibrate/ has three. The plain structs of a scenario are open to all but core.
declare -A sees=(
  [core]="core" [text]="core text" [page]="core text page" [process]="core text process"
  [scenario]="core scenario" [ops]="core ops" [cluster]="core ops cluster" [horizon]="core horizon"
  [calibrate/measurement]="core calibrate/measurement" [calib]="core calibrate/measurement"
  [calibrate/fit]="core ops cluster calibrate/measurement calibrate/fit"
  [timeline]="core timeline" [validation]="core timeline validation"
  [sweep]="core scenario timeline sweep" [store]="core timeline sweep store" [recording]="core text scenario ops cluster timeline recording"
  [plan]="core scenario ops cluster timeline plan" [validate]="core validation")
sees[search]="${sees[plan]} search"
sees[engine]="${sees[plan]} engine"
sees[import]="core text process scenario cluster plan timeline recording import"
sees[calibrate/profile]="${sees[import]} ${sees[calibrate/fit]} calibrate/profile"
sees[export]="${sees[import]} export"
sees[replay]="${sees[engine]} text recording replay"
sees[report]="${sees[replay]} search horizon validation sweep report"
sees[command]="${sees[report]} page export ${sees[calibrate/profile]} store command"
sees[cli]="${sees[command]} cli"
sees[main.cpp]="${sees[cli]}"
plain_structs='^sim/scenario/(scenario|attention_rate|kinds|expert_mesh|packed_attention|sweep/axis|model|gpu|faults|input|channel_padding|checkpoint|horizon|suite/run_record|suite/tolerance)\.hpp$'

# Which rooms may include a library, by the beginning of its headers' names.
declare -A rooms_of=(
  ["yaml-cpp/"]="scenario" ["simgrid/"]="engine" ["boost/graph/"]="ops cluster plan"
  ["nlohmann/"]="core calibrate/measurement calibrate/profile import export store report command" ["SQLiteCpp/"]="store recording" ["nlopt"]="calibrate/fit" ["Eigen/"]="calibrate/fit"
  ["CLI/"]="cli main.cpp calib validate" ["pugixml"]="report import" ["simdjson"]="recording" ["toml++/"]="import"
  ["cblas"]="calib" ["cublas"]="calib" ["mpi"]="calib" ["cuda"]="calib" ["cudnn"]="calib" ["nccl"]="calib")

# Beside them, one file may include: the trainer's device for GPUs is written with CUDA, and ranks of
# a sweep are MPI's.
declare -A also=([validate/trainer/cuda_device.cpp]="cuda nccl calib/cuda/"
  [sim/process/mpi/mpi_messages.cpp]="mpi.h")

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
  [[ $file =~ ^(sim/)?(calibrate/[^/]+|[^/]+) ]] && room=${BASH_REMATCH[2]}
  if [[ $header =~ ^sim/(calibrate/[^/]+|[^/]+) ]]; then
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
