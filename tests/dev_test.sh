#!/bin/bash
# Checks what ./dev asks of apt, cmake and ninja, with stand-ins that write down how they are called.
# shellcheck disable=SC2016  # variables in single quotes are for the stand-ins
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp "$source"/{dev,packages.txt} "$tree"
mkdir "$tree/bin" "$tree/build"
export LOG=$tree/log TREE=$tree MISSING='' USER_ID=0

stand_in() { { echo '#!/bin/bash'; cat; } >"$tree/$1" && chmod +x "$tree/$1"; }
stand_in build/stepsim <<<'echo "stepsim $*"; exit "${EXIT_CODE-0}"'
stand_in bin/id <<<'echo "$USER_ID"'
stand_in bin/apt-get <<<'echo "apt-get ${*: -1} $DEBIAN_FRONTEND" >>"$LOG"; exit "${APT_CODE-0}"'
stand_in bin/sudo <<<'echo sudo >>"$LOG"; "$@"'
stand_in bin/cmake <<'EOF'
echo cmake >>"$LOG"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$TREE" >"$TREE/build/CMakeCache.txt"
touch "$TREE/build/build.ninja"
EOF
stand_in bin/ninja <<'EOF'
if [[ " $* " == *" -n "* ]]; then [[ -v CHANGED ]] || echo "ninja: no work to do."; exit; fi
echo "ninja ${*: -1}" >>"$LOG"
echo "building"
exit "${NINJA_CODE-0}"
EOF
stand_in bin/dpkg-query <<'EOF'
for package in "${@:4}"; do
  [[ " $MISSING " == *" $package "* ]] || echo "installed $package"
done
[[ -z $MISSING ]]
EOF
for tool in bash dirname env flock grep mkdir nproc sed touch; do
  ln -s "$(command -v "$tool")" "$tree/bin/$tool"
done

# expect CASE CODE LOG [VARIABLE=VALUE...]: `./dev run x.yaml` exits with CODE and calls what LOG says.
expect() {
  local code=0
  : >"$LOG"
  env PATH="$tree/bin" "${@:4}" "$tree/dev" run x.yaml >"$tree/out" 2>"$tree/err" || code=$?
  if [[ $code != "$2" || $(paste -sd, "$LOG") != "$3" ]]; then
    echo "$1: exits with $code instead of $2; expected calls, then real ones:"
    printf '  %s\n' "$3" "$(paste -sd, "$LOG")"
    cat "$tree/err"
    exit 1
  fi
}
says() { grep -q -- "$1" "$tree/err" || { echo "not on stderr: $1"; exit 1; }; }

expect "a first call configures" 0 "cmake"
expect "a second call only runs" 0 ""
diff <(echo "stepsim run x.yaml") "$tree/out"
diff /dev/null "$tree/err"
expect "the program's exit code is passed on" 3 "" EXIT_CODE=3
expect "a change is built, and stdout stays clean" 0 "ninja stepsim" CHANGED=1
diff <(echo "stepsim run x.yaml") "$tree/out"
expect "a failed build does not run the program" 125 "ninja stepsim" CHANGED=1 NINJA_CODE=1
diff /dev/null "$tree/out"

expect "root installs what is missing" 0 \
  "apt-get update noninteractive,apt-get zlib1g-dev noninteractive" MISSING="zlib1g-dev"
expect "others install with sudo" 0 \
  "sudo,apt-get update noninteractive,sudo,apt-get g++ noninteractive" MISSING="g++" USER_ID=1000
expect "a failed installation ends it" 125 \
  "apt-get update noninteractive,apt-get g++ noninteractive" MISSING="g++" APT_CODE=100
says "could not install g++"
rm "$tree/bin/sudo"
expect "without root and sudo it says what to do" 125 "" MISSING="cmake g++" USER_ID=1000
says "apt-get install g++ cmake"

sed -i "s|=.*|=/another/checkout|" "$tree/build/CMakeCache.txt"
expect "a copied build folder is configured anew" 0 "cmake"
rm "$tree"/bin/{apt-get,dpkg-query} "$tree/build/build.ninja"
expect "without apt it names the packages and goes on" 0 "cmake"
says "no apt here; needed, by their Debian names: g++ cmake"
