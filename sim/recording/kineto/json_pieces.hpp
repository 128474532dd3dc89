// A JSON document of any size, taken apart while it is read: the members of its map, and the items
// of its long list one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/recording/kineto/byte_source.hpp"

namespace stepsim {

/// A member of the outermost map, or an item of the list.
struct JsonPiece {
  enum class Kind { member, item, end };
  Kind kind = Kind::end;
  std::string_view key;  ///< of a member, with its escapes
  std::string_view
      text;  ///< its value; valid until the next piece, with kPiecePadding bytes behind it
};

/// Bytes that may be read behind a piece: as many as simdjson asks for.
inline constexpr std::size_t kPiecePadding = 64;

/// What is between strings is not checked but for its brackets: whoever parses a piece does that.
class JsonPieces {
 public:
  /// `list` is the member of a map whose items are given one by one. A document that is a list is
  /// that list. `file` is the name that messages cite.
  JsonPieces(ByteSource& bytes, std::string list, std::string file);

  /// The next piece. Throws UserError where the document is neither map nor list, where something
  /// that is no JSON stands between two pieces, and for a piece of more than 256 MiB.
  JsonPiece next();
  /// Whether the document ended in the middle of something.
  bool is_cut() const { return is_cut_; }
  /// Whether it is a list.
  bool is_list() const { return is_list_; }

 private:
  enum class Where { before, map, list, behind };

  bool refill();
  /// The next byte that is no blank, which stays there; -1 at the end.
  int peek();
  int peek_behind(char separator);
  bool begin();
  JsonPiece member();
  JsonPiece item();
  JsonPiece end(bool is_cut);
  /// Passes a value; false where the text ends within it.
  bool pass_value();
  bool pass_nested();
  bool pass_string();
  bool pass_scalar();
  /// The value at this place; is_cut_ where the text ends within it.
  std::string_view value();
  [[noreturn]] void refuse(const std::string& what) const;

  ByteSource& bytes_;
  std::string list_, file_, key_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0, keep_ = 0;  // bytes before keep_ are not needed any more
  std::uint64_t before_ = 0;                 // bytes that left the buffer
  Where where_ = Where::before;
  bool is_cut_ = false, is_list_ = false;
};

}  // namespace stepsim
