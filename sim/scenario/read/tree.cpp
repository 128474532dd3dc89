// From the events of yaml-cpp to a Tree.
#include "sim/scenario/read/tree.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "sim/scenario/read/yaml_mistake.hpp"

namespace stepsim {
namespace {

// Bytes of text that count as one more value, because aliases copy them.
constexpr std::size_t kHeavyText = 256;

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
    if (is_left_open(text, at)) throw Refusal{place_of(mark), kLeftOpen, ""};
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
    merge(done.tree);
    if (done.anchor != 0)
      anchors_[done.anchor] = {done.tree, weight_ - done.weight_before, done.depth};
    add(std::move(done.tree), done.depth);
  }

  /// Puts the keys of maps behind "<<" beside those of the map, which count first; of several maps
  /// the earlier one does (https://yaml.org/type/merge.html).
  static void merge(Tree& map) {
    const auto is_merge = [](const Entry& entry) { return entry.key == "<<"; };
    std::vector<Tree> others;
    for (Entry& entry : map.entries) {
      if (!is_merge(entry)) continue;
      if (entry.value.kind == Tree::Kind::list)
        std::ranges::move(entry.value.items, std::back_inserter(others));
      else
        others.push_back(std::move(entry.value));
    }
    std::erase_if(map.entries, is_merge);
    for (Tree& other : others) {
      if (!other.is_map())
        throw Refusal{other.place, "<< takes a map, or a list of maps, not " +
                                       std::string(title_of(other.kind))};
      for (Entry& entry : other.entries)
        if (map.find(entry.key) == nullptr) map.entries.push_back(std::move(entry));
    }
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

Tree parse(const std::shared_ptr<const Source>& source) {
  screen(source);
  std::istringstream in(source->text);
  TreeBuilder builder(source);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    throw Refusal(yaml_mistake(source, {source, e.mark.line + 1, e.mark.column + 1}, e.msg));
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
