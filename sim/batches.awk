# Deals sources to batches that are compiled as one file each: prints a line of names for each batch of two or more.
#
# Usage: awk -v size=N [-v root=FOLDER/] -f batches.awk HEADER... SOURCE...
# Headers that are included by their path below `root` are given with it in front.
# A source's private names, those that it defines in its unnamed namespace or fetches by `using a::b`, must be no words
# of the others in its batch: most would not compile, but an overload would be called in silence. A source whose private
# name is a type or a constant of some header minds a source that reads that header, itself or through others: the
# header may be read behind it. A word behind `.`, `->` or `::` is a member, which is nobody's private name. A source
# goes into the first batch that has room and in which nobody minds it; what is left in batches of few is dealt out.

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

function note_public(name) {
  sub(/[^A-Za-z0-9_].*/, "", name)
  public_in[name] = public_in[name] " " file
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

# Whether a private name of one source is public in a header that another reads.
function hides_public_name(one, other,   names, headers, count, header_count, i, j) {
  count = split(privates[one], names, " ")
  for (i = 1; i <= count; ++i) {
    header_count = split(public_in[names[i]], headers, " ")
    for (j = 1; j <= header_count; ++j) if (reads(other, headers[j])) return 1
  }
  return 0
}

# Whether a file reads a header, itself or through others.
function reads(file, header) {
  if (!(file in is_followed)) follow(file, file)
  return (file, header) in is_read
}

# Notes all that a file reads on the way through one of those.
function follow(file, through,   names, count, i) {
  is_followed[file]
  count = split(included[through], names, " ")
  for (i = 1; i <= count; ++i) {
    if ((file, names[i]) in is_read) continue
    is_read[file, names[i]]
    follow(file, names[i])
  }
}

function fits(source, batch, most,   others, count, i) {
  count = split(batches[batch], others, " ")
  if (count >= most) return 0
  for (i = 1; i <= count; ++i) {
    if (minds(source, others[i]) || minds(others[i], source)) return 0
    if (hides_public_name(source, others[i]) || hides_public_name(others[i], source)) return 0
  }
  return 1
}

# Moves the sources of a batch of few to others, which may grow half as large again: a batch costs as much as several
# sources do, for what all of its sources instantiate.
function deal_out(batch,   names, count, other, i) {
  count = split(batches[batch], names, " ")
  batches[batch] = ""
  for (i = 1; i <= count; ++i) {
    for (other = 1; other <= batch_count && (batches[other] == "" || !fits(names[i], other, size * 1.5)); ++other) {}
    if (other > batch_count) other = batch
    batches[other] = batches[other] " " names[i]
  }
}

FNR == 1 { file = index(FILENAME, root) == 1 ? substr(FILENAME, length(root) + 1) : FILENAME }
/^#include "/ { split($0, parts, "\""); included[file] = included[file] " " parts[2] }

FILENAME ~ /\.hpp$/ {
  if (/^(struct|class|enum class|using) +[A-Za-z_0-9]+/) note_public($1 == "enum" ? $3 : $2)
  if (/^(inline )?constexpr / && match($0, /k[A-Z][A-Za-z0-9]*/)) note_public(substr($0, RSTART, RLENGTH))
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
    for (batch = 1; batch <= batch_count && !fits(sources[i], batch, size); ++batch) {}
    if (batch > batch_count) ++batch_count
    batches[batch] = batches[batch] " " sources[i]
  }
  for (batch = batch_count; batch > 0; --batch) if (split(batches[batch], names, " ") <= size / 3) deal_out(batch)
  for (batch = 1; batch <= batch_count; ++batch)
    if (split(batches[batch], names, " ") > 1) print substr(batches[batch], 2)
}
