// The words of Megatron-LM's command line as options, by name.
#include "sim/import/megatron/megatron_options.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/import/megatron/megatron_flags.hpp"
#include "sim/scenario/read/number.hpp"

namespace stepsim {
namespace {

constexpr std::int64_t kMostRanks = 10'000;

// An option that is not known and at most so many edits from one that is, is misspelt; forks have
// options of their own that are further from all others (--disable-bias-linear-fc).
constexpr std::size_t kEditsOfMistype = 2;

std::string shown_option(std::string_view name, const std::vector<std::string>& values) {
  return fmt::format("--{}{}{}", name, values.empty() ? "" : " ", fmt::join(values, " "));
}

/// What follows a script replaces what it says.
std::string behind_script(std::string_view name) {
  return fmt::format("state it behind the script: stepsim import FILE --{} N", name);
}

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
         c == '+';
}

}  // namespace

void refuse_at(const Place& place, const std::string& message, const std::string& proposal) {
  Diagnostic mistake{.message = message, .proposal = proposal};
  // What stands on stepsim's own command line has no place.
  if (place.source) {
    mistake.file = place.source->name;
    mistake.line = place.line;
    mistake.column = place.column;
    mistake.source_line = place.source->line(place.line);
  }
  throw UserError({mistake});
}

MegatronOptions::MegatronOptions(const std::vector<PlacedWord>& words) {
  Option* option = nullptr;
  for (const auto& [word, place] : words) {
    of_script_ |= place.source != nullptr;
    if (!word.starts_with("--")) {
      if (option == nullptr) continue;
      if (option->values.empty()) option->value_place = place;
      option->values.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::ranges::replace(name, '_', '-');
    const auto before = options_.find(name);
    if (before != options_.end()) replaced_.emplace_back(name, std::move(before->second));
    option = &(options_[name] = {.values = {}, .place = place, .value_place = place});
    if (equals == std::string::npos) continue;
    option->values.push_back(word.substr(equals + 1));
    option = nullptr;
  }
}

void MegatronOptions::rename(std::string_view name, const std::string& other) {
  const auto option = options_.find(name);
  if (option == options_.end() || options_.contains(other)) return;
  options_[other] = std::move(option->second);
  options_.erase(option);
}

bool MegatronOptions::has(std::string_view name) {
  read_.emplace(name);
  return options_.find(name) != options_.end();
}

bool MegatronOptions::is_on(std::string_view name) {
  if (!has(name)) return false;
  const auto& values = options_.find(name)->second.values;
  if (!values.empty())
    report(name, fmt::format("--{} {}: this option takes no value", name, values.front()),
           fmt::format("leave out {}", quoted(values.front())));
  return true;
}

std::string MegatronOptions::choice(std::string_view name, const std::vector<std::string>& words,
                                    const std::string& preset) {
  const std::vector<std::string> stated = choices(name, words);
  return stated.empty() ? preset : stated.front();
}

std::vector<std::string> MegatronOptions::choices(std::string_view name,
                                                  const std::vector<std::string>& words) {
  std::vector<std::string> stated = list(name);
  if (has(name) && stated.empty()) stated.emplace_back();
  std::erase_if(stated, [&](const std::string& word) {
    if (std::ranges::find(words, word) != words.end()) return false;
    if (std::all_of(word.begin(), word.end(), is_of_word))
      report(name, fmt::format("--{} {} is not {}", name, quoted(word), one_of(words)),
             closest(word, words));
    else
      report(name, fmt::format("--{}: {} is not a word", name, quoted(word)));
    return true;
  });
  return stated;
}

double MegatronOptions::number(std::string_view name, double preset, double least, double most) {
  if (!has(name)) return preset;
  const std::string value = text(name);
  char* rest = nullptr;
  // As Python's float(): what is too large for one is infinite.
  const double number = std::strtod(value.c_str(), &rest);
  if (!value.empty() && *rest == '\0' && number >= least && number <= most) return number;
  const std::string limits = std::isinf(most) ? "" : fmt::format(" from {} to {}", least, most);
  report(name, fmt::format("--{} {} is no number{}", name, quoted(value), limits));
  return preset;
}

std::vector<std::string> MegatronOptions::names() const {
  std::vector<std::string> names;
  for (const auto& [name, option] : options_) names.push_back(name);
  return names;
}

std::string MegatronOptions::text(std::string_view name, const std::string& preset) {
  if (!has(name)) return preset;
  const auto& words = options_.find(name)->second.values;
  return words.empty() ? "" : words.front();
}

std::string MegatronOptions::word(std::string_view name, const std::string& preset) {
  return has(name) ? words(name).front() : preset;
}

std::vector<std::string> MegatronOptions::words(std::string_view name) {
  std::vector<std::string> all = list(name);
  if (has(name) && all.empty()) all.emplace_back();
  for (const std::string& one : all) {
    if (!std::all_of(one.begin(), one.end(), is_of_word))
      refuse(name, fmt::format("--{}: {} is not a word", name, quoted(one)));
  }
  return all;
}

std::vector<std::string> MegatronOptions::list(std::string_view name) {
  return has(name) ? options_.find(name)->second.values : std::vector<std::string>{};
}

std::int64_t MegatronOptions::integer(std::string_view name, std::int64_t preset) {
  if (!has(name)) return preset;
  const std::string value = text(name);
  const auto number = number_if_any(value);
  const bool whole = number && number->rest.empty() && number->value >= 0 &&
                     number->value <= 1e12 &&
                     number->value == static_cast<double>(static_cast<std::int64_t>(number->value));
  if (!whole) {
    report(name, fmt::format("--{}: {} is not a whole number", name, quoted(value)),
           value.empty() && of_script_ ? behind_script(name) : "");
    return std::max<std::int64_t>(preset, 1);
  }
  return static_cast<std::int64_t>(number->value);
}

std::int64_t MegatronOptions::positive(std::string_view name, std::int64_t preset) {
  const std::int64_t number = integer(name, preset);
  if (number > 0 || !has(name)) return number;
  report(name, fmt::format("--{} 0 is not above 0", name));
  return std::max<std::int64_t>(preset, 1);
}

std::int64_t MegatronOptions::required(std::string_view name) {
  if (!has(name))
    throw UserError({Diagnostic{.message = fmt::format("--{} is missing", name),
                                .proposal = of_script_ ? behind_script(name) : ""}});
  return positive(name, 0);
}

void MegatronOptions::require(const std::vector<std::string_view>& names) {
  bool are_there = true;
  for (const std::string_view name : names) {
    if (has(name)) continue;
    are_there = false;
    report(name, fmt::format("--{} is missing", name), of_script_ ? behind_script(name) : "");
  }
  if (!are_there) throw_if_any();
}

std::int64_t MegatronOptions::up_to(std::int64_t most, std::string_view name, std::int64_t preset) {
  const std::int64_t number = integer(name, preset);
  if (!has(name) || (number >= 1 && number <= most)) return number;
  report(name, fmt::format("--{} {} is not between 1 and {}", name, number, most),
         of_script_ ? behind_script(name) : "");
  return std::max<std::int64_t>(preset, 1);
}

std::int64_t MegatronOptions::degree(std::string_view name) { return up_to(kMostRanks, name, 1); }

void MegatronOptions::refuse(std::string_view name, const std::string& message,
                             const std::string& proposal) {
  problems_.throw_if_any();
  const auto option = options_.find(name);
  refuse_at(option == options_.end() ? Place{} : option->second.value_place, message, proposal);
}

void MegatronOptions::report(std::string_view name, const std::string& message,
                             const std::string& proposal) {
  if (!mistaken_.emplace(name).second) return;
  const auto option = options_.find(name);
  problems_.add(option == options_.end() ? Place{} : option->second.value_place, "", message,
                proposal);
}

std::vector<std::string> MegatronOptions::known_names() const {
  std::vector<std::string> names = options_with_effect();
  names.insert(names.end(), read_.begin(), read_.end());
  return names;
}

bool MegatronOptions::is_known(const std::string& name) const {
  return read_.contains(name) || has_effect_elsewhere(name) || leaves_step(name) ||
         !simulated_instead_of(name).empty();
}

void MegatronOptions::throw_if_any() {
  const std::vector<std::string> known = known_names();
  for (const auto& [name, option] : options_) {
    if (is_known(name)) continue;
    const auto near = nearest(name, known);
    if (near && edit_distance(name, *near) <= kEditsOfMistype)
      report(name, fmt::format("--{} is no option of Megatron-LM", name),
             fmt::format("did you mean '--{}'?", *near));
  }
  problems_.throw_if_any();
}

bool MegatronOptions::is_zero(std::string_view name) {
  const auto number = number_if_any(text(name));
  return number && number->value == 0;
}

std::string MegatronOptions::shown(std::string_view name) { return shown_option(name, list(name)); }

void MegatronOptions::note_the_rest(Draft& draft) const {
  note_replaced(draft);
  const std::vector<std::string> known = known_names();
  for (const auto& [name, option] : options_) {
    const std::string_view instead = simulated_instead_of(name);
    if (!instead.empty()) {
      draft.note(shown_option(name, option.values), std::string(instead));
    } else if (!is_known(name)) {
      const auto near = nearest(name, known);
      draft.note(
          shown_option(name, option.values),
          near ? fmt::format("not known here, did you mean '--{}'?", *near) : "not known here");
    }
  }
}

/// Notes options of the script that the command line replaces by intention.
void MegatronOptions::note_replaced(Draft& draft) const {
  for (const auto& [name, option] : replaced_) {
    const Option& last = options_.find(name)->second;
    if (!last.place.source || last.values == option.values) continue;
    const auto shown = [&name = name](const Option& one) {
      return fmt::format("{} ({}:{}:{})", shown_option(name, one.values), one.place.source->name,
                         one.place.line, one.place.column);
    };
    draft.note(shown(option), shown(last) + ", given after it, is taken");
  }
}

}  // namespace stepsim
