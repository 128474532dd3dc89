// Other names of keys: options of frameworks, and the words that code and people have for a knob.
#pragma once

#include <string_view>
#include <vector>

namespace stepsim {

struct OtherName {
  std::string_view name;    ///< as it is written most often: "seq_len"
  std::string_view key;     ///< its path in a scenario: "training.sequence_length"; empty: none
  std::string_view remark;  ///< where the key means more or less than the name; may be empty
};

/// Sorted by name.
const std::vector<OtherName>& other_names();

/// Upper case, - and _ do not count, nor do dots and brackets. Null where the word is no other name of a key.
const OtherName* other_name(std::string_view word);

}  // namespace stepsim
