// A scenario in the making: YAML, what was assumed because nobody stated it, and what is not
// simulated as stated.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

/// What matters, what the source does not state, and what was taken for it.
struct Assumption {
  std::string what;   ///< "vocabulary"
  std::string value;  ///< "32000"
  std::string why;    ///< "the script names a tokenizer, not its size"
  std::string state;  ///< what states it: "--vocab-size N"
};

/// "vocabulary 32000: the script names a tokenizer, not its size (state it: --vocab-size N)"
std::string to_string(const Assumption& assumption);

/// Whether a text is one flow map or list, which ends where its first bracket closes: what followed
/// would be further keys of the map around it.
bool is_one_flow(const std::string& text);

/// Entries of a map of the scenario: "tensor: 8".
using Entries = std::vector<std::string>;

/// YAML of one scenario, section by section. It states only what the source states; `framework`
/// fills in the rest.
class Draft {
 public:
  explicit Draft(std::string title) : title_(std::move(title)) {}

  /// A key of the scenario, with whatever stands on its line.
  void line(const std::string& text) { body_ += text + "\n"; }
  /// A map in flow style of entries "key: value"; nothing when it has none. A value that would be
  /// read as more than one is quoted.
  void map(const std::string& key, const std::vector<std::string>& entries);
  /// Writes another entry in place of the first one that reads so.
  void replace(const std::string& entry, const std::string& by);
  /// What the source says and a scenario cannot, and what is simulated in its place.
  void note(const std::string& what, const std::string& why) {
    notes_.push_back(what + ": " + why);
  }
  void assume(Assumption assumption) { assumptions_.push_back(std::move(assumption)); }

  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<Assumption>& assumptions() const { return assumptions_; }
  /// The file: title, notes and assumptions as comments, then the keys.
  std::string text() const;

 private:
  std::string title_, body_;
  std::vector<std::string> notes_;
  std::vector<Assumption> assumptions_;
};

/// "160 MB"
std::string size_text(double bytes);

}  // namespace stepsim
