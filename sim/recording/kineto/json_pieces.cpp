// Finds where the items of a list of JSON end, without parsing them.
#include "sim/recording/kineto/json_pieces.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kAtOnce = 256 << 10;         // bytes read at a time: they stay in the cache
constexpr std::size_t kLargestPiece = 256u << 20;  // far above any event or metadata

enum class Mark : unsigned char { none, quote, open, close };

constexpr std::array<Mark, 256> kMarks = [] {
  std::array<Mark, 256> marks{};
  marks['"'] = Mark::quote;
  marks['{'] = marks['['] = Mark::open;
  marks['}'] = marks[']'] = Mark::close;
  return marks;
}();

Mark mark_of(char c) { return kMarks[static_cast<unsigned char>(c)]; }
bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

JsonPieces::JsonPieces(ByteSource& bytes, std::string list, std::string file)
    : bytes_(bytes),
      list_(std::move(list)),
      file_(std::move(file)),
      buffer_(kAtOnce + kPiecePadding) {}

bool JsonPieces::refill() {
  if (keep_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + keep_, end_ - keep_);
    before_ += keep_;
    at_ -= keep_;
    end_ -= keep_;
    keep_ = 0;
  }
  if (end_ > kLargestPiece) refuse("a piece of more than 256 MiB");
  if (buffer_.size() < end_ + kPiecePadding + kAtOnce / 2) buffer_.resize(2 * buffer_.size());
  const std::size_t got = bytes_.read(buffer_.data() + end_, buffer_.size() - kPiecePadding - end_);
  end_ += got;
  return got > 0;
}

int JsonPieces::peek() {
  for (;; ++at_) {
    if (at_ == end_) {
      keep_ = at_;
      if (!refill()) return -1;
    }
    if (!is_blank(buffer_[at_])) return static_cast<unsigned char>(buffer_[at_]);
  }
}

/// As peek, behind one separator where there is one.
int JsonPieces::peek_behind(char separator) {
  const int c = peek();
  if (c != separator) return c;
  ++at_;
  return peek();
}

bool JsonPieces::pass_string() {
  ++at_;
  for (;;) {
    const char* from = buffer_.data() + at_;
    const auto* quote = static_cast<const char*>(std::memchr(from, '"', end_ - at_));
    if (quote == nullptr) {
      at_ = end_;
      if (!refill()) return false;
      continue;
    }
    at_ = static_cast<std::size_t>(quote - buffer_.data()) + 1;
    // A quote behind an odd number of backslashes is part of the text. They end at the opening
    // quote at the latest.
    std::size_t slashes = 0;
    while (at_ >= keep_ + 2 + slashes && buffer_[at_ - 2 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return true;
  }
}

bool JsonPieces::pass_nested() {
  std::size_t depth = 0;
  for (;;) {
    const char* data = buffer_.data();
    while (at_ < end_ && mark_of(data[at_]) == Mark::none) ++at_;
    if (at_ == end_) {
      if (!refill()) return false;
      continue;
    }
    const Mark mark = mark_of(data[at_]);
    if (mark == Mark::quote) {
      if (!pass_string()) return false;
      continue;
    }
    ++at_;
    if (mark == Mark::open) {
      ++depth;
    } else if (--depth == 0) {
      return true;
    }
  }
}

bool JsonPieces::pass_scalar() {
  for (;; ++at_) {
    if (at_ == end_ && !refill()) return false;
    const char c = buffer_[at_];
    if (c == ',' || is_blank(c) || mark_of(c) == Mark::close) return true;
  }
}

bool JsonPieces::pass_value() {
  switch (mark_of(buffer_[at_])) {
    case Mark::quote:
      return pass_string();
    case Mark::open:
      return pass_nested();
    case Mark::none:
      return pass_scalar();
    case Mark::close:
      break;
  }
  refuse("a bracket that closes nothing");
}

std::string_view JsonPieces::value() {
  keep_ = at_;
  is_cut_ = !pass_value();
  return {buffer_.data() + keep_, at_ - keep_};
}

JsonPiece JsonPieces::end(bool is_cut) {
  where_ = Where::behind;
  is_cut_ = is_cut;
  return {};
}

bool JsonPieces::begin() {
  int first = peek();
  for (const char mark : {'\xef', '\xbb', '\xbf'}) {  // a byte order mark, which Windows writes
    if (first == static_cast<unsigned char>(mark)) {
      ++at_;
      first = peek();
    }
  }
  if (first != '{' && first != '[') return false;
  is_list_ = first == '[';
  where_ = is_list_ ? Where::list : Where::map;
  ++at_;
  return true;
}

JsonPiece JsonPieces::member() {
  int c = peek_behind(',');
  if (c == '}' || c < 0) return end(c < 0);
  if (c != '"') refuse("no key");
  const std::string_view quoted_key = value();
  if (is_cut_) return end(true);
  key_ = quoted_key.substr(1, quoted_key.size() - 2);
  c = peek_behind(':');
  if (c < 0) return end(true);
  if (c == '[' && key_ == list_) {
    ++at_;
    where_ = Where::list;
    return next();
  }
  const std::string_view text = value();
  if (is_cut_) return end(true);
  return {JsonPiece::Kind::member, key_, text};
}

JsonPiece JsonPieces::item() {
  const int c = peek_behind(',');
  if (c < 0) return end(true);
  if (c == ']') {
    ++at_;
    if (is_list_) return end(false);
    where_ = Where::map;
    return next();
  }
  const std::string_view text = value();
  if (is_cut_) return end(true);
  if (text.empty()) refuse("nothing between two commas");
  return {JsonPiece::Kind::item, {}, text};
}

JsonPiece JsonPieces::next() {
  if (where_ == Where::before && !begin()) refuse("neither a map nor a list");
  if (where_ == Where::map) return member();
  if (where_ == Where::list) return item();
  return {};
}

void JsonPieces::refuse(const std::string& what) const {
  throw UserError(
      fmt::format("{}: no JSON at byte {}: {}", quoted_path(file_), before_ + at_, what));
}

}  // namespace stepsim
