// The strictness of the map reader, and the parts of a scenario that stand in files of their own.
#include "sim/scenario/read/map_reader.hpp"

#include <algorithm>

#include "sim/core/suggest.hpp"
#include "sim/core/trim.hpp"
#include "sim/scenario/describe/describe.hpp"
#include "sim/scenario/read/doc_writer.hpp"
#include "sim/scenario/read/expectation.hpp"
#include "sim/scenario/read/other_names.hpp"
#include "sim/scenario/read/parts_read.hpp"

namespace stepsim {
namespace {

std::string proposal_of(const OtherName& other, const std::optional<std::string>& leaf) {
  const std::string remark = other.remark.empty() ? "" : fmt::format(" ({})", other.remark);
  return fmt::format("did you mean '{}'{}?", leaf.value_or(std::string(other.key)), remark);
}

}  // namespace

MapReader::MapReader(Reading& reading, const Tree& map, std::string path, std::string title,
                     Place at)
    : reading_(reading),
      map_(map),
      path_(std::move(path)),
      title_(std::move(title)),
      at_(std::move(at)) {}

std::string MapReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void MapReader::report(const Place& place, const std::string& path, const Mistake& mistake) {
  reading_.problems.add(place, path, fmt::format("{}: {}", path, mistake.message),
                        mistake.proposal);
}

const Entry* MapReader::take(std::string_view key) {
  known_.emplace_back(key);
  const Entry* entry = map_.find(key);
  if (entry != nullptr) reading_.places.set(path_of(key), entry->key_place);
  return entry;
}

const Entry* MapReader::take_required(std::string_view key, const Rules& rules,
                                      const std::string& example) {
  const Entry* entry = take(key);
  if (entry == nullptr && rules.is_required) missing_.push_back({std::string(key), example});
  return entry;
}

bool MapReader::is(Tree::Kind kind, const Tree& value, const std::string& path,
                   const Place& key_place, const std::string& wanted) {
  if (value.kind == kind) return true;
  if (value.kind == Tree::Kind::empty) {
    report(key_place, path, {fmt::format("expected {}, but there is no value", wanted), ""});
  } else {
    report(value.place, path,
           {fmt::format("expected {}, not {}", wanted, title_of(value.kind)), ""});
  }
  return false;
}

MapReader MapReader::below(std::string_view key, const Entry* entry) {
  if (entry == nullptr) return below(path_of(key), empty_map(at_), at_);
  return below(path_of(key), entry->value, entry->key_place);
}

MapReader MapReader::below(const std::string& path, const Tree& value, const Place& at) {
  // A section with nothing in it reads like one that is absent: all keys may have been commented
  // out.
  const bool usable =
      value.kind == Tree::Kind::empty || is(Tree::Kind::map, value, path, at, "a map");
  MapReader io(reading_, value.is_map() ? value : empty_map(at), path, fmt::format("'{}'", path),
               at);
  io.sources_ = sources_;
  io.changed_by_ = changed_by_;
  io.is_usable_ = usable;
  return io;
}

MapReader MapReader::of_word(std::string_view key, std::string_view word, const Entry& entry) {
  Tree map = empty_map(entry.value.place);
  map.entries.push_back({std::string(word), entry.key_place, entry.value});
  return below(path_of(key), map, entry.key_place);
}

void MapReader::group(std::string_view key, std::string_view,
                      const std::function<void(MapReader&)>& read) {
  MapReader io = below(key, take(key));
  read(io);
  io.finish();
}

// --- sources

void MapReader::sources(std::string_view) {
  const Entry* entry = take_required("sources", required(), "<map>");
  if (entry == nullptr ||
      !is(Tree::Kind::map, entry->value, path_of("sources"), entry->key_place, "a map"))
    return;
  for (const Entry& source : entry->value.entries) {
    sources_->push_back(source.key);
    is(Tree::Kind::scalar, source.value, path_of("sources." + source.key), source.key_place,
       "a text");
  }
}

bool MapReader::is_change(const Place& place) const {
  return place.source && (place.source->is_override || place.source == changed_by_);
}

void MapReader::source(std::string_view) {
  if (is_change(at_)) {
    take("source");
    return;
  }
  const Entry* entry = take_required("source", required(), "<id>");
  if (entry == nullptr) return;
  const std::string path = path_of("source");
  if (!is(Tree::Kind::scalar, entry->value, path, entry->key_place, "an entry of 'sources'"))
    return;
  const std::string& id = entry->value.scalar;
  if (std::ranges::find(*sources_, id) != sources_->end()) return;
  report(entry->value.place, path,
         {fmt::format("{} is not an entry of 'sources'", quoted(id)), did_you_mean(id, *sources_)});
}

std::optional<Tree> MapReader::unlike(const Tree& variants, const Entry& entry,
                                      const std::string& path, std::vector<std::string> seen) {
  const Entry* like = entry.value.find("like");
  if (like == nullptr) return entry.value;
  seen.push_back(entry.key);
  const std::string name = like->value.kind == Tree::Kind::scalar ? like->value.scalar : "";
  const Entry* other = variants.find(name);
  if (other == nullptr) {
    report(like->value.place, path,
           {fmt::format("'like' names {}, which is not here", quoted(name)), ""});
    return std::nullopt;
  }
  if (std::ranges::find(seen, name) != seen.end() || seen.size() > names_of<Precision>().size()) {
    seen.push_back(name);
    report(like->value.place, path,
           {fmt::format("'like' leads back to itself: {}", fmt::join(seen, " -> ")), ""});
    return std::nullopt;
  }
  auto base = unlike(variants, *other, path, seen);
  if (!base) return std::nullopt;
  Tree over = entry.value;
  over.remove("like");
  return merged(std::move(*base), over);
}

// --- parts

std::optional<Resolved> MapReader::resolve(std::string_view key, const Kind& kind) {
  const Entry* entry = take_required(key, required(), "<name>");
  if (entry == nullptr) return std::nullopt;
  return Resolver(reading_.library, reading_.problems)
      .resolve(entry->value, entry->key_place, kind, path_of(key));
}

namespace {

/// Where a part begins: the key for a map in the scenario, the first line for a file.
Place start_of(const Resolved& resolved) {
  const Place& place = resolved.tree.place;
  return place.source && !place.source->is_override && !resolved.hash.empty()
             ? Place{place.source, 1, 1}
             : place;
}

}  // namespace

template <class Part>
void MapReader::read_part(std::string_view key, const Resolved& resolved, Part& part) {
  part.name = resolved.name;
  MapReader io(reading_, resolved.tree, path_of(key), resolved.title, start_of(resolved));
  describe(io, part);
  io.finish();
}

template <class Profile>
void MapReader::read_profile(std::string_view key, const Resolved& resolved, Profile& profile,
                             bool has_sources) {
  profile.name = resolved.name;
  profile.hash = resolved.hash;
  profile.changes = resolved.changes;
  MapReader io(reading_, resolved.tree, path_of(key), resolved.title, start_of(resolved));
  if (has_sources) io.expect_sources(resolved.changed_by);
  describe(io, profile);
  io.check_name(profile.name, resolved.name);
  io.finish();
}

template <class Part, class Read>
void MapReader::read_once(std::string_view key, Part& part, const Read& read) {
  PartsRead* parts = reading_.library.parts.get();
  const Entry* entry = parts != nullptr ? map_.find(key) : nullptr;
  if (entry == nullptr) return read();
  const std::string path = path_of(key), identity = part_identity(entry->value, path);
  if (const PartRead<Part>* known = parts->find<Part>(identity)) {
    take(key);
    part = known->part;
    reading_.places.share(known->places);
    return;
  }
  read();
  if (reading_.problems.empty())
    parts->keep<Part>(
        identity,
        {part, std::make_shared<const PlacesOfPart>(reading_.places.beginning_with(path + ".")),
         entry->value});
}

void MapReader::part(std::string_view key, Model& model, std::string_view) {
  read_once(key, model, [&] {
    if (const auto resolved = resolve(key, kModelKind)) read_part(key, *resolved, model);
  });
}

void MapReader::part(std::string_view key, Cluster& cluster, std::string_view) {
  read_once(key, cluster, [&] {
    if (const auto resolved = resolve(key, kClusterKind)) read_part(key, *resolved, cluster);
  });
}

void MapReader::part(std::string_view key, GpuProfile& gpu, std::string_view) {
  read_once(key, gpu, [&] {
    if (const auto resolved = resolve(key, kGpuKind)) read_profile(key, *resolved, gpu, true);
  });
}

void MapReader::part(std::string_view key, LinkProfile& link, std::string_view) {
  if (!stated(key)) {
    take(key);
    return;
  }
  read_once(key, link, [&] {
    const auto resolved = resolve(key, kLinkKind);
    if (resolved) read_profile(key, *resolved, link, !resolved->hash.empty());
  });
}

/// A profile is found again by its name, so it must have that of its file.
void MapReader::check_name(const std::string& name, const std::string& file) {
  const Entry* entry = map_.find("name");
  if (entry == nullptr || name == file) return;
  report(entry->value.place, path_of("name"),
         {fmt::format("{} is not the name of the file", quoted(name)),
          fmt::format("write '{}'", file)});
}

void MapReader::expectations(std::string_view key, std::vector<Expectation>& expectations,
                             std::string_view) {
  const Entry* entry = take(key);
  if (entry == nullptr || entry->value.kind == Tree::Kind::empty) return;
  MapReader io = below(key, entry);
  for (const std::string& name : expectation_keys()) {
    const Entry* line = io.take(name);
    if (line == nullptr) continue;
    const bool many = line->value.kind == Tree::Kind::list;
    for (const Tree& item : many ? line->value.items : std::vector<Tree>{line->value}) {
      const std::string path = io.path_of(name);
      if (!is(Tree::Kind::scalar, item, path, line->key_place, "a comparison")) continue;
      try {
        expectations.push_back(read_expectation(name, item.scalar));
      } catch (const Mistake& mistake) {
        report(item.place, path, mistake);
      }
    }
  }
  io.finish();
}

// --- parts of suites

void MapReader::verbatim(std::string_view key, Tree& value, const Rules& rules, std::string_view) {
  const Entry* entry = take_required(key, rules, "<map>");
  if (entry != nullptr) value = entry->value;
}

void MapReader::read_phrase(const Entry& entry, Phrase& phrase) {
  const std::string path = path_of(entry.key);
  if (entry.value.is_map()) {
    MapReader io = below(entry.key, &entry);
    io.phrase("of", phrase, required(), "");
    io.field("otherwise", phrase.otherwise, any, "");
    MapReader pairs = io.below(
        "values", io.take_required("values", required(), "{<value>: <what it stands for>}"));
    for (const Entry& value : pairs.map_.entries) {
      if (pairs.take(value.key) != &value) continue;  // the second of that name: finish reports it
      if (pairs.is(Tree::Kind::scalar, value.value, pairs.path_of(value.key), value.key_place,
                   "a value"))
        phrase.values.emplace_back(value.key, value.value.scalar);
    }
    pairs.finish();
    return io.finish();
  }
  if (!is(Tree::Kind::scalar, entry.value, path, entry.key_place, "an expression")) return;
  if (trimmed(entry.value.scalar).empty())
    return report(entry.value.place, path,
                  {"expected an expression, not an empty text", "'\"\"' is the one that is empty"});
  phrase.text = entry.value.scalar;
  phrase.place = entry.value.place;
  const std::string line = phrase.place.source->line(phrase.place.line);
  const auto at = static_cast<std::size_t>(std::max(phrase.place.column - 1, 0));
  if (at < line.size() && (line[at] == '"' || line[at] == '\'')) ++phrase.place.column;
}

void MapReader::phrase(std::string_view key, Phrase& phrase, const Rules& rules, std::string_view) {
  const Entry* entry = take_required(key, rules, "<expression>");
  if (entry != nullptr) read_phrase(*entry, phrase);
}

void MapReader::phrases(std::string_view key, std::vector<NamedPhrase>& phrases, std::string_view) {
  MapReader io = below(key, take(key));
  for (const Entry& entry : io.map_.entries) {
    if (io.take(entry.key) != &entry) continue;  // the second of that name: finish reports it
    io.read_phrase(entry, phrases.emplace_back(NamedPhrase{entry.key, entry.key_place, {}}).phrase);
  }
  io.finish();
}

// --- strictness

void MapReader::finish() {
  if (!is_usable_) return;
  std::vector<std::string> meant;
  std::map<std::string, Place> seen;
  for (const Entry& entry : map_.entries) {
    const auto [first, is_new] = seen.emplace(entry.key, entry.key_place);
    if (!is_new) {
      const std::string where =
          first->second.line > 0 ? fmt::format(" on line {}", first->second.line) : "";
      reading_.problems.add(
          entry.key_place, path_of(entry.key),
          fmt::format("duplicate key {} in {}, first given{}", quoted(entry.key), title_, where));
    } else if (std::ranges::find(known_, entry.key) == known_.end()) {
      report_unknown(entry, meant);
    }
  }
  for (const Missing& missing : missing_) {
    const std::string path = path_of(missing.key);
    if (std::ranges::find(meant, missing.key) != meant.end()) continue;
    reading_.problems.add(at_, path, fmt::format("missing key '{}' in {}", missing.key, title_),
                          fmt::format("add \"{}: {}\"", missing.key, missing.example));
  }
}

void MapReader::report_unknown(const Entry& entry, std::vector<std::string>& meant) {
  const OtherName* other = other_name(entry.key);
  const bool has_key = other != nullptr && !other->key.empty();
  const auto near = other == nullptr ? nearest(entry.key, known_)
                    : has_key        ? known_leaf(other->key)
                                     : std::nullopt;
  std::string proposal = did_you_mean(entry.key, known_);
  if (other != nullptr) {
    proposal = has_key ? proposal_of(*other, near) : std::string(other->remark);
  } else if (const std::string path = near ? "" : path_of_key(entry.key); !path.empty()) {
    proposal = fmt::format("did you mean '{}'?", path);
  }
  if (near) meant.push_back(*near);
  // The value that was meant is not known: nothing can be said about how it fits with others.
  reading_.problems.add(entry.key_place, path_of(near.value_or(entry.key)),
                        fmt::format("unknown key {} in {}", quoted(entry.key), title_), proposal);
}

std::optional<std::string> MapReader::known_leaf(std::string_view path) const {
  const std::size_t dot = path.rfind('.');
  const std::string leaf(path.substr(dot + 1)), map = "." + std::string(path.substr(0, dot));
  // A model's file begins where the scenario's `model` does.
  const bool is_here = (path_.empty() || map.ends_with("." + path_)) &&
                       std::find(known_.begin(), known_.end(), leaf) != known_.end();
  return is_here ? std::optional(leaf) : std::nullopt;
}

}  // namespace stepsim
