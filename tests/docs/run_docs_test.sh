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

[there](right.md), [and elsewhere](https://example.org/#part)
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

[nowhere](missing.md#part)
EOF
if "$here/run_docs.sh" "$folder" "$folder/wrong.md" >"$folder/out"; then
  echo "wrong documents were accepted"
  exit 1
fi
for line in 2 3 5 7; do grep -q "wrong.md:$line: " "$folder/out"; done
grep -qF "+MIT License" "$folder/out"
grep -q "wrong.md: nothing at the link's end: missing.md$" "$folder/out"
grep -qx "4 commands in 1 documents, 6 failed" "$folder/out"
