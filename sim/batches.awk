# Deals sources to batches that are compiled as one file each: prints a line of names for each batch of two or more.
#
# Usage: awk -v size=N -f batches.awk HEADER... SOURCE...
# A source's private names, those that it defines in its unnamed namespace or fetches by `using a::b`, must be no words of
# the others in its batch: most would not compile, but an overload would be called in silence. A source goes into the first batch that has room
# and in which nobody minds it. A word behind `.`, `->` or `::` is a member, which is nobody's private name. A source
# whose private name is a type or a constant of some header stays alone: the header may be read behind it.

function note_private(line,   name) {
  sub(/^template <[^>]*> */, "", line)
  if (match(line, /^(struct|class|enum class|using) +[A-Za-z_0-9]+( +=)?/)) {
    if (line ~ /^using/ && substr(line, RSTART, RLENGTH) !~ /=$/) return
    name = substr(line, RSTART, RLENGTH)
    sub(/ +=$/, "", name)
    sub(/.* /, "", name)
  } else {
    if (line ~ /^namespace / || !match(line, /[ &*][A-Za-z_][A-Za-z0-9_]*( *=|[({;[])/)) return
    name = substr(line, RSTART + 1, RLENGTH - 1)
    sub(/[^A-Za-z0-9_].*/, "", name)
  }
  add_private(name)
  if (line ~ /^const/) note_more(line)
}

# One line may define several constants: `constexpr double a = 1, b = 2;`.
function note_more(line,   name) {
  while (match(line, /, [A-Za-z_][A-Za-z0-9_]* =/)) {
    name = substr(line, RSTART + 2, RLENGTH - 4)
    line = substr(line, RSTART + RLENGTH)
    add_private(name)
  }
}

function add_private(name) {
  if (!((FILENAME, name) in is_private)) privates[FILENAME] = privates[FILENAME] " " name
  is_private[FILENAME, name]
}

function note_words(line,   before) {
  while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
    before = substr(line, 1, RSTART - 1)
    if (before !~ /(\.|->|::)$/) is_word[FILENAME, substr(line, RSTART, RLENGTH)]
    line = substr(line, RSTART + RLENGTH)
  }
}

# Whether a private name of one source is a word of another.
function minds(one, other,   names, count, i) {
  count = split(privates[one], names, " ")
  for (i = 1; i <= count; ++i) if ((other, names[i]) in is_word) return 1
  return 0
}

function hides_public_name(source,   names, count, i) {
  count = split(privates[source], names, " ")
  for (i = 1; i <= count; ++i) if (names[i] in is_public) return 1
  return 0
}

function fits(source, batch,   others, count, i) {
  count = split(batches[batch], others, " ")
  if (count >= size) return 0
  for (i = 1; i <= count; ++i) if (minds(source, others[i]) || minds(others[i], source)) return 0
  return 1
}

FILENAME ~ /\.hpp$/ {
  if (/^(struct|class|enum class|using) +[A-Za-z_0-9]+/) is_public[$1 == "enum" ? $3 : $2]
  if (/^(inline )?constexpr / && match($0, /k[A-Z][A-Za-z0-9]*/)) is_public[substr($0, RSTART, RLENGTH)]
  next
}

FNR == 1 { inside = in_raw_string = 0; sources[++source_count] = FILENAME }
in_raw_string { if (/\)[a-z]*"/) in_raw_string = 0; next }
/R"[a-z]*\(/ && !/\)[a-z]*"/ { in_raw_string = 1 }
/^}  \/\/ namespace$/ { inside = 0 }
{ sub(/\/\/.*/, ""); gsub(/"([^"\\]|\\.)*"/, "\"\"") }
/^#include/ { next }
inside && /^[A-Za-z]/ { note_private($0) }
/^using +[A-Za-z_0-9:]+::[A-Za-z_0-9]+;/ { sub(/;.*/, ""); sub(/.*::/, ""); add_private($0) }
/^namespace \{/ { inside = 1 }
{ note_words($0) }

END {
  for (i = 1; i <= source_count; ++i) {
    if (hides_public_name(sources[i])) continue
    for (batch = 1; batch <= batch_count && !fits(sources[i], batch); ++batch) {}
    if (batch > batch_count) ++batch_count
    batches[batch] = batches[batch] " " sources[i]
  }
  for (batch = 1; batch <= batch_count; ++batch) if (split(batches[batch], names, " ") > 1) print substr(batches[batch], 2)
}
