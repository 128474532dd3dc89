// Reads JSON with a handler for nlohmann's parser that knows how far the parser has read.
#include "sim/core/json_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stepsim {
namespace {

using Json = nlohmann::json;
using JsonKind = JsonTree::Kind;

constexpr std::size_t kDeepest = 16;  // a file of measurements has four levels

/// Hands out characters and counts them, because the parser does not tell where it is.
class CountedText {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedText(const char* at, std::size_t* count) : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  CountedText& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountedText operator++(int) {
    const CountedText before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedText& other) const { return at_ == other.at_; }
  bool operator!=(const CountedText& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* count_;
};

/// Turns offsets into lines and columns; the offsets come in rising order.
class Ruler {
 public:
  explicit Ruler(const std::string& text) : text_(text) {}

  Place place(const std::shared_ptr<const Source>& source, std::size_t offset) {
    for (; at_ < std::min(offset, text_.size()); ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      begin_ = at_ + 1;
    }
    return {source, line_, static_cast<int>(offset - begin_) + 1};
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0, begin_ = 0;
  int line_ = 1;
};

/// The reason alone, such as "unexpected end of input", from a message of the library: "[json...]
/// parse error at line 1, column 5: syntax error while parsing value - unexpected end of input;
/// last read: '...'".
std::string reason_of(const nlohmann::detail::exception& error) {
  std::string text = error.what();
  const std::size_t dash = text.find(" - ");
  if (dash != std::string::npos) text = text.substr(dash + 3);
  if (text.starts_with('[')) text = text.substr(text.find(' ') + 1);  // the library's own number
  return text.substr(0, text.find(';'));
}

constexpr int kOutOfRange = 406;  ///< the library's id of a number that no double can hold

class Handler : public nlohmann::json_sax<Json> {
 public:
  Handler(const std::shared_ptr<const Source>& source, Problems& problems)
      : source_(source), problems_(problems), ruler_(source->text) {}

  std::size_t* count() { return &count_; }
  bool failed() const { return failed_; }
  JsonTree take() { return std::move(root_); }

  bool null() override { return scalar(JsonKind::null, "null"); }
  bool boolean(bool value) override { return scalar(JsonKind::flag, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return scalar(JsonKind::number, fmt::format("{}", value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(JsonKind::number, fmt::format("{}", value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return scalar(JsonKind::number, text);
  }
  bool string(string_t& value) override { return scalar(JsonKind::text, value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonKind::map); }
  bool start_array(std::size_t) override { return open(JsonKind::list); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const Place place = begin();
    JsonTree& map = *open_.back();
    if (map.find(name) != nullptr)
      problems_.add(place, name, fmt::format("{} is there twice", stepsim::quoted(name)));
    map.members.push_back({name, place, {}});
    end_ = count_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    failed_ = true;
    if (error.id == kOutOfRange) {
      problems_.add(begin(), "",
                    fmt::format("{} is too large for a number", stepsim::quoted(token)));
      return false;
    }
    const bool ended = position > source_->text.size();
    const std::size_t offset = position == 0 ? 0 : position - 1;
    Ruler ruler(source_->text);
    problems_.add(ruler.place(source_, std::min(offset, source_->text.size())), "",
                  ended ? "the file ends before its JSON does: it was cut off"
                        : "this is no JSON: " + reason_of(error),
                  ended ? "copy it again" : "");
    return false;
  }

 private:
  /// The place where the value or name begins that was just read: behind what separates two values.
  Place begin() {
    const std::string& text = source_->text;
    std::size_t at = std::min(end_, text.size());
    while (at < text.size() &&
           std::string_view(" \t\r\n,:[{}]").find(text[at]) != std::string::npos)
      ++at;
    return ruler_.place(source_, at);
  }

  JsonTree& add() {
    if (open_.empty()) return root_;
    JsonTree& holder = *open_.back();
    return holder.kind == JsonKind::map ? holder.members.back().value : holder.items.emplace_back();
  }

  bool scalar(JsonKind kind, const std::string& text) {
    const Place place = begin();
    JsonTree& value = add();
    value.kind = kind;
    value.text = text;
    value.place = place;
    end_ = count_;
    return true;
  }

  bool open(JsonKind kind) {
    const Place place = ruler_.place(source_, count_ == 0 ? 0 : count_ - 1);
    if (open_.size() == kDeepest) {
      failed_ = true;
      problems_.add(place, "",
                    fmt::format("maps and lists inside each other more than {} deep", kDeepest));
      return false;
    }
    JsonTree& value = add();
    value.kind = kind;
    value.place = place;
    open_.push_back(&value);
    end_ = count_;
    return true;
  }

  bool close() {
    open_.pop_back();
    end_ = count_;
    return true;
  }

  std::shared_ptr<const Source> source_;
  Problems& problems_;
  Ruler ruler_;
  std::size_t count_ = 0;  ///< characters that the parser has taken
  std::size_t end_ = 0;    ///< end of the value before; one further after a number
  bool failed_ = false;
  JsonTree root_;
  std::vector<JsonTree*> open_;  ///< an item is finished before the next one moves its list
};

}  // namespace

const JsonTree* JsonTree::find(const std::string& name) const {
  for (const Member& member : members)
    if (member.name == name) return &member.value;
  return nullptr;
}

std::optional<JsonTree> parse_json(const std::shared_ptr<const Source>& source,
                                   Problems& problems) {
  Handler handler(source, problems);
  const char* begin = source->text.data();
  std::size_t ignored = 0;
  const bool whole = Json::sax_parse(CountedText(begin, handler.count()),
                                     CountedText(begin + source->text.size(), &ignored), &handler);
  if (!whole || handler.failed()) return std::nullopt;
  return handler.take();
}

}  // namespace stepsim
