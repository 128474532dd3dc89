// From the events of yaml-cpp to a Tree.
#include "sim/scenario/read/tree.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace stepsim {
namespace {

// Bytes of text that count as one more value, because aliases copy them.
constexpr std::size_t kHeavyText = 256;

/// What stops a parse, thrown out of the event handler.
struct Refusal {
  Place place;
  std::string message;
  std::string proposal;
};

/// Whether the line, from `at` on, is a key and is not indented more than `indentation`.
bool is_key_of(const std::string& text, std::size_t at, std::size_t indentation) {
  const std::size_t word = std::min(text.find_first_not_of(' ', at), text.size());
  std::size_t end = word;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                               text[end] == '_' || text[end] == '-'))
    ++end;
  const bool is_key =
      end > word && end < text.size() && text[end] == ':' &&
      (end + 1 == text.size() || std::isspace(static_cast<unsigned char>(text[end + 1])) != 0);
  return is_key && word - at <= indentation;
}

/// The quote that ends what the one at `open` begins; npos when there is none.
std::size_t closing_quote(const std::string& text, std::size_t open) {
  for (std::size_t at = open + 1; at < text.size(); ++at) {
    if (text[open] == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == text[open]) {
      const bool is_doubled =
          text[open] == '\'' && at + 1 < text.size() && text[at + 1] == text[open];
      if (!is_doubled) return at;
      ++at;
    }
  }
  return std::string::npos;
}

/// Whether a quote was forgotten: what begins at `open` goes to the end of the file, or over keys
/// beside the one that it is the value of.
bool is_left_open(const std::string& text, std::size_t open, std::size_t close) {
  if (close == std::string::npos) return true;
  const std::string_view within(text.data() + open, close - open);
  std::size_t end = within.find('\n');
  if (end == std::string_view::npos) return false;  // at once: a line may have any number of quotes
  const std::size_t start = open == 0 ? 0 : text.rfind('\n', open - 1) + 1;  // npos + 1 is 0
  const std::size_t indentation = text.find_first_not_of(' ', start) - start;
  for (; end != std::string_view::npos; end = within.find('\n', end + 1)) {
    if (is_key_of(text, open + end + 1, indentation)) return true;
  }
  return false;
}

/// The first quote of a text that is no YAML that was left open, as far as that can be told; npos
/// when there is none.
std::size_t quote_left_open(const std::string& text) {
  bool begins_value = true;  // what stands here would
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n')) {
      at = std::min(text.find('\n', at), text.size());
      begins_value = true;
    } else if ((c == '"' || c == '\'') && begins_value) {
      const std::size_t close = closing_quote(text, at);
      if (is_left_open(text, at, close)) return at;
      at = close;
      begins_value = false;
    } else if (c != ' ') {
      begins_value = c == '\n' || c == ':' || c == '-' || c == '[' || c == '{' || c == ',';
    }
  }
  return std::string::npos;
}

constexpr const char* kLeftOpen = "the quote that opens here is not closed";

/// Builds the tree of one document from its events.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  bool started() const { return started_; }
  Tree take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) throw Refusal{place_of(mark), "a second document begins here; a file holds one"};
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish({.place = place_of(mark)}, mark, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      throw Refusal{place_of(mark), "this alias refers to what it is part of"};
    count(found->second.weight, mark);
    if (open_.size() + found->second.depth > kDeepest) refuse_depth(mark);
    add(Tree(found->second.tree), found->second.depth);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    check_quote(mark);
    if (first_non_text(value) != std::string::npos) {
      throw Refusal{place_of(mark), "this text holds a control character or is not UTF-8"};
    }
    finish({.kind = Tree::Kind::scalar, .scalar = value, .place = place_of(mark)}, mark, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Tree::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Tree::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Tree tree;
    YAML::anchor_t anchor = 0;
    std::size_t weight_before = 0;
    std::size_t depth = 1;  ///< depth of itself and what is in it
    bool has_key = false;
    Entry entry;  ///< in a map: the key that waits for its value
  };
  struct Anchored {
    Tree tree;
    std::size_t weight = 0;
    std::size_t depth = 0;
  };

  Place place_of(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }

  [[noreturn]] void refuse_depth(const YAML::Mark& mark) const {
    throw Refusal{place_of(mark),
                  fmt::format("maps and lists are nested more than {} deep here", kDeepest)};
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Refusal{place_of(mark), fmt::format("the tag {} is not supported", quoted(tag)),
                  "leave it out"};
  }

  /// yaml-cpp takes the end of the file for the quote that was forgotten.
  void check_quote(const YAML::Mark& mark) const {
    const std::string& text = source_->text;
    const std::size_t unmarked = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // the byte order mark
    const std::size_t at = static_cast<std::size_t>(mark.pos) + unmarked;
    const bool is_quoted = at < text.size() && (text[at] == '"' || text[at] == '\'');
    if (is_quoted && is_left_open(text, at, closing_quote(text, at)))
      throw Refusal{place_of(mark), kLeftOpen};
  }

  void count(std::size_t weight, const YAML::Mark& mark) {
    weight_ += weight;
    if (weight_ <= kMostValues) return;
    throw Refusal{place_of(mark),
                  fmt::format("more than {} values up to here (an alias counts as often as it "
                              "is used)",
                              kMostValues)};
  }

  void open(Tree::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    check_tag(mark, tag);
    if (open_.size() >= kDeepest) refuse_depth(mark);
    open_.push_back({.tree = {.kind = kind, .place = place_of(mark)},
                     .anchor = anchor,
                     .weight_before = weight_});
    count(1, mark);
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.anchor != 0)
      anchors_[done.anchor] = {done.tree, weight_ - done.weight_before, done.depth};
    add(std::move(done.tree), done.depth);
  }

  void finish(Tree leaf, const YAML::Mark& mark, YAML::anchor_t anchor) {
    const std::size_t weight = 1 + leaf.scalar.size() / kHeavyText;
    count(weight, mark);
    if (anchor != 0) anchors_[anchor] = {leaf, weight, 0};
    add(std::move(leaf), 0);
  }

  /// Puts a finished value of that depth where it belongs.
  void add(Tree value, std::size_t depth) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    parent.depth = std::max(parent.depth, depth + 1);
    if (parent.tree.kind == Tree::Kind::list) {
      parent.tree.items.push_back(std::move(value));
    } else if (!parent.has_key) {
      begin_entry(std::move(value));
    } else {
      parent.entry.value = std::move(value);
      parent.tree.entries.push_back(std::move(parent.entry));
      parent.has_key = false;
    }
  }

  void begin_entry(Tree key) {
    if (key.kind != Tree::Kind::scalar) {
      throw Refusal{key.place, fmt::format("a key must be a word, this is {}", title_of(key.kind))};
    }
    open_.back().entry = {.key = std::move(key.scalar), .key_place = key.place};
    open_.back().has_key = true;
  }

  std::shared_ptr<const Source> source_;
  bool started_ = false;
  std::size_t weight_ = 0;  ///< values so far, long texts counting for more
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  Tree root_;
};

/// Refuses what yaml-cpp would chew on for long: big files, bytes that are no text, open brackets
/// without end.
void screen(const std::shared_ptr<const Source>& source) {
  const std::string& text = source->text;
  if (text.size() > kLargestFile) {
    throw Refusal{{source, 0, 0},
                  fmt::format("the file is larger than {} MiB: this is no scenario, model or "
                              "profile",
                              kLargestFile >> 20)};
  }
  const std::size_t bad = first_non_text(text);
  if (bad != std::string::npos) {
    throw Refusal{place_at(source, bad),
                  fmt::format("byte 0x{:02x} is not text: the file must be YAML in UTF-8",
                              static_cast<unsigned char>(text[bad]))};
  }
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == '{') ++depth;
    if (text[at] == ']' || text[at] == '}') depth -= depth > 0 ? 1 : 0;
    if (depth > kDeepest) {
      throw Refusal{place_at(source, at),
                    fmt::format("more than {} brackets are open here", kDeepest)};
    }
  }
}

/// What yaml-cpp's messages mean to somebody who writes a scenario.
constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
    {"end of map flow not found", "a '{' is not closed up to here"},
    {"end of sequence flow not found", "a '[' is not closed up to here"},
    {"end of map not found", "this line is indented unlike the keys above it"},
    {"end of sequence not found", "this line is indented unlike the list above it"},
    {"illegal map value", "a ':' where no key can be"},
    {"unexpected character in block scalar", "'>' and '|' begin a folded text"},
};

std::string meaning_of(const std::string& message) {
  for (const auto& [theirs, ours] : kMeanings) {
    if (message == theirs) return std::string(ours);
  }
  return message;
}

/// Whether a value would begin at this offset of a line.
bool begins_value(const std::string& line, std::size_t at) {
  const std::size_t before = at == 0 ? std::string::npos : line.find_last_not_of(' ', at - 1);
  return before != std::string::npos &&
         std::string_view(":,[{-").find(line[before]) != std::string_view::npos;
}

/// Where the value begins whose quotes close before `rest`, the offset that yaml-cpp was stopped
/// at: 7 of `label: "a" // gpus`. npos when there is none.
std::size_t quoted_before(const std::string& line, std::size_t rest) {
  for (std::size_t at = 0; at < rest; ++at) {
    if ((line[at] != '"' && line[at] != '\'') || !begins_value(line, at)) continue;
    const std::size_t close = closing_quote(line, at);
    if (close >= rest) break;
    if (line.find_first_not_of(' ', close + 1) == rest) return at;
    at = close;
  }
  return std::string::npos;
}

/// The text behind a quote that closed, with quotes around all of the value where its end is sure.
std::optional<Refusal> text_behind_quote(const Place& place) {
  const std::string line = place.source->line(place.line);
  const auto rest = static_cast<std::size_t>(std::max(place.column, 1) - 1);
  const std::size_t open = rest < line.size() ? quoted_before(line, rest) : std::string::npos;
  if (open == std::string::npos) return std::nullopt;
  const std::string value = line.substr(open, line.find_last_not_of(' ') + 1 - open);
  const bool is_sure =
      line.find_first_of("[{") > open && value.find_first_of("'#") == std::string::npos;
  return Refusal{place, "text goes on behind the quotes of a value",
                 is_sure ? fmt::format("write quotes around all of it: '{}'", value)
                         : "write single quotes around all of the value"};
}

/// What to do about a syntax error, when the line shows it.
std::string proposal_for(const std::string& line) {
  const std::size_t colon = line.find(": >");
  if (colon != std::string::npos) {
    return fmt::format("write quotes around it: \"{}\"", line.substr(colon + 2));
  }
  if (line.find(" ? ") < line.find(" : ")) return "write quotes around the value: '...'";
  if (line.find('\t') < line.find_first_not_of(" \t")) return "indent with spaces, not with tabs";
  return "";
}

Tree parse(const std::shared_ptr<const Source>& source) {
  screen(source);
  std::istringstream in(source->text);
  TreeBuilder builder(source);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    const Place place{source, e.mark.line + 1, e.mark.column + 1};
    const std::size_t open = quote_left_open(source->text);
    if (open != std::string::npos) throw Refusal{place_at(source, open), kLeftOpen};
    const bool json = source->name.ends_with(".json");
    if (const auto behind = text_behind_quote(place); behind && !json) throw Refusal(*behind);
    throw Refusal{place, (json ? "this is not JSON: " : "this is not YAML: ") + meaning_of(e.msg),
                  proposal_for(source->line(place.line))};
  }
  return builder.take();
}

/// The values of an override have no line, only the command line argument that they stand in.
void drop_lines(Tree& tree) {
  tree.place.line = tree.place.column = 0;
  for (Tree& item : tree.items) drop_lines(item);
  for (Entry& entry : tree.entries) {
    entry.key_place.line = entry.key_place.column = 0;
    drop_lines(entry.value);
  }
}

}  // namespace

const Entry* Tree::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

Entry* Tree::find(std::string_view key) {
  return const_cast<Entry*>(static_cast<const Tree*>(this)->find(key));
}

void Tree::remove(std::string_view key) {
  std::erase_if(entries, [&](const Entry& entry) { return entry.key == key; });
}

std::optional<Tree> parse_tree(std::shared_ptr<const Source> source, const std::string& path,
                               Problems& problems) {
  try {
    Tree tree = parse(source);
    if (!tree.place.source) tree.place = {source, 1, 1};
    if (source->is_override) drop_lines(tree);
    return tree;
  } catch (Refusal& refusal) {
    if (source->is_override) refusal.place = {std::move(source), 0, 0};
    problems.add(refusal.place, path, refusal.message, refusal.proposal);
    return std::nullopt;
  }
}

Tree merged(Tree base, const Tree& over) {
  if (base.kind == Tree::Kind::scalar && over.is_opened && over.find("base") == nullptr)
    return merged(based_on(std::move(base)), over);
  if (!base.is_map() || !over.is_map()) return over;
  std::set<std::string> seen;
  for (const Entry& entry : over.entries) {
    // A key that `over` has twice stays twice, so that the reader can say so.
    const bool first = seen.insert(entry.key).second;
    Entry* old = first ? base.find(entry.key) : nullptr;
    if (old == nullptr) {
      base.entries.push_back(entry);
    } else {
      *old = {entry.key, entry.key_place, merged(std::move(old->value), entry.value)};
    }
  }
  base.place = over.place;
  return base;
}

Tree based_on(Tree name) {
  Tree map = empty_map(name.place);
  const Place place = name.place;
  map.entries.push_back({"base", place, std::move(name)});
  return map;
}

Tree empty_map(const Place& place) { return {.kind = Tree::Kind::map, .place = place}; }

std::string_view title_of(Tree::Kind kind) {
  constexpr std::array<std::string_view, 4> kTitles{"nothing", "a value", "a list", "a map"};
  return kTitles.at(static_cast<std::size_t>(kind));
}

}  // namespace stepsim
