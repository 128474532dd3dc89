// Megatron-LM's command line, option by option; every option that is asked for counts as read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/command/import.hpp"

namespace stepsim {

class MegatronOptions {
 public:
  /// Names are without the leading dashes, underscores as dashes; of options given twice the last
  /// one wins.
  explicit MegatronOptions(const std::vector<std::string>& words);

  bool has(std::string_view name);
  /// The first word after the option, `preset` where the option is absent.
  std::string text(std::string_view name, const std::string& preset = "");
  /// All words up to the next option.
  std::vector<std::string> list(std::string_view name);
  /// Throws UserError where the word is not a whole number from 0 to 1e12.
  std::int64_t integer(std::string_view name, std::int64_t preset);
  /// Likewise, and where the option is absent.
  std::int64_t required(std::string_view name);
  /// Of a split, 1 where the option is absent. Throws UserError outside 1 to 10,000.
  std::int64_t degree(std::string_view name);
  bool is_zero(std::string_view name);
  /// "--name value"
  std::string shown(std::string_view name);

  /// Notes options that nobody has read: those known to change a step with what is simulated in
  /// their place, those unknown here as such. Options that leave a step as it is are passed over.
  void note_the_rest(Draft& draft) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace stepsim
