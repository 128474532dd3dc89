// What may follow what somebody has begun to type: settings of a scenario, and names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// A word that may stand there, and what it means.
struct NextWord {
  std::string word;
  std::string meaning;
};

/// How a setting that begins so may go on, up to the next dot, or to its value: "par" as
/// "parallelism.", "parallelism.ten" as "parallelism.tensor=", "parallelism.sequence=" as
/// "parallelism.sequence=true" and "...=false". What keys there are is what their readers declare.
/// `has_lists`: behind each comma stands another key, or another value, as in --vary.
std::vector<NextWord> next_words_of_setting(const std::string& begun, bool has_lists);

/// The names that a description points to: "a name of `stepsim list schedules`", "a name in
/// models/". None where it points nowhere.
std::vector<NextWord> names_pointed_to(std::string_view description);

}  // namespace stepsim
