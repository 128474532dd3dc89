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

```yaml written.yaml
a: 1
```

```console
$ cat written.yaml
a: 1
```
EOF
"$here/run_docs.sh" "$folder" "$folder/right.md" >"$folder/out" || { cat "$folder/out"; exit 1; }
diff <(echo "5 commands in 1 documents, 0 failed") "$folder/out"

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

```text LICENSE
another licence
```
EOF
if "$here/run_docs.sh" "$folder" "$folder/wrong.md" >"$folder/out"; then
  echo "wrong documents were accepted"
  exit 1
fi
for line in 2 3 5 7; do grep -q "wrong.md:$line: " "$folder/out"; done
grep -qF "+MIT License" "$folder/out"
grep -qx "4 commands in 1 documents, 5 failed" "$folder/out"

# A document sees neither what another one wrote nor what lies about in the tree; what git knows, but is
# not there, is not there.
tree=$folder/tree
mkdir -p "$tree/tests/docs"
cp "$here/run_docs.sh" "$tree/tests/docs"
cp "$here/../../dev" "$tree"
for name in first second; do
  cat >"$tree/$name.md" <<'EOF'
```text written.txt
by this one
```

```console
$ ls removed.txt left_over.txt
# exit 2
...
$ ls first.md second.md && cat written.txt && echo more >>written.txt
first.md
second.md
by this one
```
EOF
done
if command -v git >/dev/null; then
  touch "$tree/removed.txt"
  git -C "$tree" init -q
  git -C "$tree" add .
  rm "$tree/removed.txt"
  echo "by somebody" >"$tree/written.txt"
  touch "$tree/left_over.txt"
fi
STEPSIM_LIBRARY=nowhere "$tree/tests/docs/run_docs.sh" "$folder" "$tree/first.md" "$tree/second.md" >"$folder/out" ||
  { cat "$folder/out"; exit 1; }
diff <(echo "4 commands in 2 documents, 0 failed") "$folder/out"
