// Reading what `--only` says about an axis.
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/core/suggest.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/other_names.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/search/space.hpp"

namespace stepsim {
namespace {

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::size_t from = 0;
  for (std::size_t comma = 0; comma != std::string::npos; from = comma + 1) {
    comma = list.find(',', from);
    words.push_back(list.substr(from, comma == std::string::npos ? comma : comma - from));
  }
  return words;
}

class Restriction {
 public:
  explicit Restriction(const std::string& text) : text_(text) {
    const std::size_t equals = text.find('=');
    axis_ = text.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == text.size())
      throw UserError(fmt::format(
          "--only {}: an axis and its values are wanted, as in \"tensor=1,2,4\"", text));
    words_ = words_of(text.substr(equals + 1));
  }

  const std::string& axis() const { return axis_; }

  template <class Number>
  void numbers(std::vector<Number>& values) const {
    values.clear();
    for (const std::string& word : words_) {
      Number number{};
      const char* end = word.data() + word.size();
      const auto read = std::from_chars(word.data(), end, number);
      if (read.ec != std::errc{} || read.ptr != end || number < 1)
        fail(word, "a whole number from 1 on");
      values.push_back(number);
    }
    sort(values);
  }

  void words(std::vector<std::string>& values, const std::vector<std::string>& known) const {
    values.clear();
    for (const std::string& word : words_) {
      if (std::ranges::find(known, word) == known.end()) fail(word, one_of(known));
      if (std::ranges::find(values, word) == values.end()) values.push_back(word);
    }
  }

  void flags(std::vector<bool>& values) const {
    std::vector<std::string> words;
    this->words(words, {"false", "true"});
    values.clear();
    for (const std::string& word : words) values.push_back(word == "true");
  }

  void shardings(std::vector<const Sharding*>& values) const {
    std::vector<std::string> words;
    this->words(words, Registry<Sharding>::names());
    values = Registry<Sharding>::all();
    std::erase_if(values, [&](const Sharding* sharding) {
      return std::ranges::find(words, sharding->name) == words.end();
    });
  }

  void sizes(std::vector<double>& values) const {
    values.clear();
    for (const std::string& word : words_) {
      Bytes size;
      try {
        read_scalar(word, size);
      } catch (const Mistake&) {
        fail(word, "a size, as in 100MiB");
      }
      if (size <= Bytes{0}) fail(word, "above 0");
      values.push_back(size.bytes());
    }
  }

 private:
  [[noreturn]] void fail(const std::string& word, const std::string& wanted) const {
    throw UserError(fmt::format("--only {}: '{}' is not {}", text_, word, wanted));
  }
  template <class T>
  static void sort(std::vector<T>& values) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  std::string text_, axis_;
  std::vector<std::string> words_;
};

std::vector<std::string> recompute_words() {
  std::vector<std::string> words{"none", "full", "layers"};
  for (std::size_t set = 0; set < kModuleSets; ++set)
    words.emplace_back(name_of(static_cast<ModuleSet>(set)));
  return words;
}

/// How `--only` reads the values of what is no degree.
struct RestrictedAxis {
  std::string_view name;
  void (*restrict)(const Restriction& words, Axes& axes);
};

template <auto Values>
void numbers(const Restriction& words, Axes& axes) {
  words.numbers(axes.*Values);
}
template <auto Values>
void flags(const Restriction& words, Axes& axes) {
  words.flags(axes.*Values);
}
void schedules(const Restriction& words, Axes& axes) {
  words.words(axes.schedule, Registry<Schedule>::names());
}
void recomputes(const Restriction& words, Axes& axes) {
  words.words(axes.recompute, recompute_words());
}
void shardings(const Restriction& words, Axes& axes) { words.shardings(axes.sharding); }
void sizes(const Restriction& words, Axes& axes) { words.sizes(axes.bucket); }
void reshards(const Restriction& words, Axes& axes) {
  std::vector<std::string> known, wanted;
  for (const auto& [name, value] : kNames<Reshard>) known.emplace_back(name);
  words.words(wanted, known);
  axes.reshard.clear();
  for (const auto& [name, value] : kNames<Reshard>)
    if (std::ranges::find(wanted, name) != wanted.end()) axes.reshard.emplace_back(value);
}

void dispatchers(const Restriction& words, Axes& axes) {
  std::vector<std::string> known, wanted;
  for (const auto& [name, value] : kNames<Dispatcher>) known.emplace_back(name);
  words.words(wanted, known);
  axes.dispatcher.clear();
  for (const auto& [name, value] : kNames<Dispatcher>)
    if (std::ranges::find(wanted, name) != wanted.end()) axes.dispatcher.emplace_back(value);
}

constexpr RestrictedAxis kRestricted[] = {{"expert_tensor", numbers<&Axes::expert_tensor>},
                                          {"dispatcher", dispatchers},
                                          {"schedule", schedules},
                                          {"chunks", numbers<&Axes::chunks>},
                                          {"micro_batch", numbers<&Axes::micro_batch>},
                                          {"sequence", flags<&Axes::sequence>},
                                          {"recompute", recomputes},
                                          {"sharding", shardings},
                                          {"overlap", flags<&Axes::overlap>},
                                          {"bucket", sizes},
                                          {"reshard_after_forward", reshards},
                                          {"shard_degree", numbers<&Axes::shard_degree>}};

/// The axis that a framework's word for its key leads to, or the nearest name.
std::string meant_axis(const std::string& word, const std::vector<std::string>& names) {
  if (const OtherName* other = other_name(word)) {
    for (const std::string& name : names) {
      const std::string key = "." + name;
      if (other->key.ends_with(key) || other->key.ends_with(key + ".degree") ||
          other->key.ends_with(key + ".stages"))
        return fmt::format("did you mean '{}'?", name);
    }
  }
  return did_you_mean(word, names);
}

}  // namespace

void restrict_axis(Axes& axes, const std::string& only) {
  const Restriction restriction(only);
  std::vector<std::string> names;
  for (const SearchedDegree& degree : kSearchedDegrees) {
    if (restriction.axis() == name_of(degree.axis)) return restriction.numbers(axes.*degree.values);
    names.emplace_back(name_of(degree.axis));
  }
  for (const RestrictedAxis& axis : kRestricted) {
    if (axis.name == restriction.axis()) return axis.restrict(restriction, axes);
    names.emplace_back(axis.name);
  }
  throw UserError(fmt::format("--only {}: no axis '{}', {}", only, restriction.axis(),
                              meant_axis(restriction.axis(), names)));
}

}  // namespace stepsim
