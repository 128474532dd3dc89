#!/bin/bash
# Checks that run_docs.sh accepts what is right and refuses what is wrong.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/right.md" <<'EOF'
```console
$ echo "12 (of 34) * [56]?"
12 (of ...) * [56]?
$ printf 'first\nsecond\nthird\n'; \
  exit 3
# exit 3
first
...
$ ls LICENSE
$ ./dev test --all
```

  ```console
  $ printf 'a\n  b\n'
  a
    b
  ...
  ```

```sh
$ false
```
EOF
"$here/run_docs.sh" "$folder" "$folder/right.md" >"$folder/out" || { cat "$folder/out"; exit 1; }
diff <(echo "4 commands in 1 documents, 0 failed") "$folder/out"

cat >"$folder/wrong.md" <<'EOF'
```console
$ false
$ true
# exit 2
$ echo 5 s
6 s
$ echo one; echo two
one
```
EOF
if "$here/run_docs.sh" "$folder" "$folder/wrong.md" >"$folder/out"; then
  echo "wrong documents were accepted"
  exit 1
fi
for line in 2 3 5 7; do grep -q "wrong.md:$line: " "$folder/out"; done
grep -qx "4 commands in 1 documents, 4 failed" "$folder/out"
