// The words of Megatron-LM's command line as options, by name.
#include "sim/import/megatron/megatron_options.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/problems.hpp"
#include "sim/import/megatron/megatron_flags.hpp"
#include "sim/scenario/read/number.hpp"

namespace stepsim {
namespace {

constexpr std::int64_t kMostRanks = 10'000;

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
  if (!whole)
    refuse(name, fmt::format("--{}: {} is not a whole number", name, quoted(value)),
           value.empty() && of_script_ ? behind_script(name) : "");
  return static_cast<std::int64_t>(number->value);
}

std::int64_t MegatronOptions::positive(std::string_view name, std::int64_t preset) {
  const std::int64_t number = integer(name, preset);
  if (number == 0 && has(name)) refuse(name, fmt::format("--{} 0 is not above 0", name));
  return number;
}

std::int64_t MegatronOptions::required(std::string_view name) {
  if (!has(name))
    throw UserError({Diagnostic{.message = fmt::format("--{} is missing", name),
                                .proposal = of_script_ ? behind_script(name) : ""}});
  return positive(name, 0);
}

void MegatronOptions::require(const std::vector<std::string_view>& names) {
  Problems problems;
  for (const std::string_view name : names) {
    if (!has(name))
      problems.add({}, "", fmt::format("--{} is missing", name),
                   of_script_ ? behind_script(name) : "");
  }
  problems.throw_if_any();
}

std::int64_t MegatronOptions::up_to(std::int64_t most, std::string_view name, std::int64_t preset) {
  const std::int64_t number = integer(name, preset);
  if (has(name) && (number < 1 || number > most))
    refuse(name, fmt::format("--{} {} is not between 1 and {}", name, number, most),
           of_script_ ? behind_script(name) : "");
  return number;
}

std::int64_t MegatronOptions::degree(std::string_view name) { return up_to(kMostRanks, name, 1); }

void MegatronOptions::refuse(std::string_view name, const std::string& message,
                             const std::string& proposal) const {
  const auto option = options_.find(name);
  refuse_at(option == options_.end() ? Place{} : option->second.value_place, message, proposal);
}

bool MegatronOptions::is_zero(std::string_view name) {
  const auto number = number_if_any(text(name));
  return number && number->value == 0;
}

std::string MegatronOptions::shown(std::string_view name) { return shown_option(name, list(name)); }

void MegatronOptions::note_the_rest(Draft& draft) const {
  note_replaced(draft);
  for (const auto& [name, option] : options_) {
    const std::string_view instead = simulated_instead_of(name);
    if (!instead.empty()) {
      draft.note(shown_option(name, option.values), std::string(instead));
    } else if (!read_.contains(name) && !leaves_step(name)) {
      draft.note(shown_option(name, option.values), "not known here");
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
