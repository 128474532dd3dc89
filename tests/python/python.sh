#!/bin/bash
# Installs the Python package beside Debian's pandas, and tries it. With STEPSIM_UPDATE=1 it also
# renews the outputs of the notebook and the types of a result. Usage: python.sh PROGRAM [TEST...]
set -euo pipefail
program=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Debian's Python has Debian's packages, which another one first in the path has not.
for python in /usr/bin/python3 python3 ""; do
  [[ -z $python ]] || ! "$python" -c 'import setuptools, wheel, pip, pandas' 2>/dev/null || break
done
[[ -n $python ]] || { echo "no Python with pandas, pip, setuptools and wheel"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir "$folder/package"  # building leaves files in it
cp -r "$here"/../../sim/python/{pyproject.toml,stepsim} "$folder/package"
"$python" -m venv --system-site-packages --without-pip "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --no-build-isolation --no-index "$folder/package"
# What this shell has set is not for the program.
update=${STEPSIM_UPDATE-}
unset "${!STEPSIM_@}" PYTHONPATH
[[ -z $update ]] || export STEPSIM_UPDATE=$update
export STEPSIM=$program
cd "$folder"
"$folder/venv/bin/python" "$here/stepsim_test.py" "${@:2}"
