// Megatron-LM's command line, option by option; every option that is asked for counts as read.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/problems.hpp"
#include "sim/core/source.hpp"
#include "sim/import/draft.hpp"

namespace stepsim {

/// A word of a command line, and where a script has it.
struct PlacedWord {
  std::string text;
  Place place;  ///< without a source: on stepsim's own command line, or nobody knows
};

/// Throws UserError with the place, where there is one.
[[noreturn]] void refuse_at(const Place& place, const std::string& message,
                            const std::string& proposal = "");

class MegatronOptions {
 public:
  /// Names are without the leading dashes, underscores as dashes; where an option is given twice
  /// the last one wins.
  explicit MegatronOptions(const std::vector<PlacedWord>& words);

  /// An option that stands for another counts as that one, where that one is absent.
  void rename(std::string_view name, const std::string& other);

  bool has(std::string_view name);
  /// Whether a switch is there. A word behind it is a mistake: Megatron-LM's switches take none.
  bool is_on(std::string_view name);
  /// One of these words, `preset` where the option is absent. Another one is a mistake, with the
  /// list and the nearest; the preset stands for it until mistakes are thrown.
  std::string choice(std::string_view name, const std::vector<std::string>& words,
                     const std::string& preset = "");
  /// As list(), each of them as choice().
  std::vector<std::string> choices(std::string_view name, const std::vector<std::string>& words);
  /// A number from `least` to `most`; one outside, and what is none, is a mistake.
  double number(std::string_view name, double preset, double least, double most);
  /// All names that are there.
  std::vector<std::string> names() const;
  /// The first word after the option, `preset` where the option is absent.
  std::string text(std::string_view name, const std::string& preset = "");
  /// As text(), of letters, digits and -_.+ alone. Throws UserError where it has others: they would
  /// be more than one word of a scenario.
  std::string word(std::string_view name, const std::string& preset = "");
  /// As list(), each of them as word().
  std::vector<std::string> words(std::string_view name);
  /// All words up to the next option.
  std::vector<std::string> list(std::string_view name);
  /// What is no whole number from 0 to 1e12 is a mistake; the preset, or 1, stands for it until
  /// mistakes are thrown.
  std::int64_t integer(std::string_view name, std::int64_t preset);
  /// As integer(); 0 is a mistake, too.
  std::int64_t positive(std::string_view name, std::int64_t preset);
  /// As positive(). Throws UserError where the option is absent.
  std::int64_t required(std::string_view name);
  /// Throws UserError that asks for all of these options that are absent.
  void require(const std::vector<std::string_view>& names);
  /// As integer(), from 1 to `most`; `preset` may lie outside.
  std::int64_t up_to(std::int64_t most, std::string_view name, std::int64_t preset);
  /// A degree of a split from 1 to 10,000, 1 where the option is absent.
  std::int64_t degree(std::string_view name);
  /// Throws UserError with the place of the option's value, which a script has. Where mistakes were
  /// found before, this may be what they lead to: they are thrown alone.
  [[noreturn]] void refuse(std::string_view name, const std::string& message,
                           const std::string& proposal = "");
  /// Remembers a mistake, one for each option.
  void report(std::string_view name, const std::string& message, const std::string& proposal = "");
  /// Throws UserError with all mistakes, also of options that are misspelt: those that are not known
  /// and have a known one near.
  void throw_if_any();
  bool is_zero(std::string_view name);
  /// "--name value"
  std::string shown(std::string_view name);

  /// Notes options that a script gives twice, and those that nobody has read: those known to change
  /// a step with what is simulated in their place, those unknown here as such. Options that leave a
  /// step as it is are passed over.
  void note_the_rest(Draft& draft) const;

 private:
  struct Option {
    std::vector<std::string> values;
    Place place;        ///< place of its name
    Place value_place;  ///< place of its first value
  };

  void note_replaced(Draft& draft) const;
  /// Known options as candidates for a name that is not.
  std::vector<std::string> known_names() const;
  bool is_known(const std::string& name) const;

  std::map<std::string, Option, std::less<>> options_;
  std::vector<std::pair<std::string, Option>> replaced_;  ///< given before, by name
  std::set<std::string, std::less<>> read_;
  Problems problems_;
  std::set<std::string, std::less<>> mistaken_;
  bool of_script_ = false;  ///< some of the words are
};

}  // namespace stepsim
