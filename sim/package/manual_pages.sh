#!/bin/bash
# Writes a manual page for the program and for each of its commands, of what their --help says.
# Usage: manual_pages.sh PROGRAM FOLDER
set -euo pipefail
program=$1 folder=$2
export LC_ALL=C.UTF-8
command -v help2man >/dev/null || { echo "no manual pages: there is no help2man" >&2; exit 0; }
version=$("$program" --version)
version=${version%% *}
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# page [WORD...]: the page of a command, and those of its sub-commands.
page() {
  local name help inner
  name=$(IFS=-; echo "stepsim${*:+-$*}")
  help=$("$program" "$@" --help)
  mapfile -t inner < <(sed -nE '/^Subcommands:/,/^$/s/^  ([a-z-]+) .*/\1/p' <<<"$help")
  {
    echo '[see also]'
    { ((!$#)) || echo stepsim; ((!${#inner[@]})) || printf '%s\n' "${inner[@]/#/$name-}"; } |
      sed 's/.*/.BR & (1),/; $s/,$//'
  } >"$scratch/see_also"
  # help2man names the page as the program that it calls, and keeps the lines of what a shell is told.
  cat >"$scratch/$name" <<EOF
#!/bin/bash
$(printf '%q ' "$program" "$@") --help |
  sed -E 's|^Usage: [^ ]*|Usage: stepsim|; s/^Examples?: /Examples:\n  $ /; s/^ {10}stepsim /  $ stepsim /'
EOF
  chmod +x "$scratch/$name"
  help2man --no-info --section 1 --manual stepsim --source "stepsim $version" --version-string "$version" \
    --name "$(sed -E '1s/^stepsim: //; 1q' <<<"$help")" --include "$scratch/see_also" "$scratch/$name" |
    gzip -n9 >"$folder/$name.1.gz"
  local command
  for command in "${inner[@]}"; do page "$@" "$command"; done
}

page
