// What a rule about keys reports to: it writes sentences at the places of the keys, or only notes
// that a rule is broken.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/core/objection.hpp"
#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"
#include "sim/scenario/read/map_reader.hpp"

namespace stepsim {

struct BrokenRule {
  std::string_view path;      ///< leads to the key that one would change
  std::string_view proposal;  ///< what to do instead; may be empty
};

/// The sentences about a file go to its Reading. Without one nobody reads them: they are not made,
/// and after the first broken rule no key is sound, so that the others are left out.
class KeyReports {
 public:
  KeyReports() = default;
  explicit KeyReports(Reading& reading) : reading_(&reading) {}

  /// Whether a rule was found broken, where nobody reads the sentences.
  bool broken() const { return broken_; }

  /// Whether nothing was reported about these keys.
  bool sound(std::initializer_list<const char*> paths) const {
    if (reading_ == nullptr) return !broken_;
    return std::ranges::none_of(paths,
                                [&](const char* path) { return reading_->problems.spoiled(path); });
  }

  bool stated(std::string_view path) const {
    return reading_ != nullptr && reading_->places.find(path) != nullptr;
  }

  /// Whether two keys stand in one file; also where nobody knows.
  bool stand_together(std::string_view one, std::string_view other) const {
    if (!stated(one) || !stated(other)) return true;
    return reading_->places.find(one)->source == reading_->places.find(other)->source;
  }

  /// Reports at the key, or at the nearest map above it that the file states.
  template <class... Args>
  void report(const BrokenRule& rule, fmt::format_string<Args...> sentence, Args&&... args) const {
    broken_ = true;
    if (reading_ != nullptr) write(rule, fmt::format(sentence, std::forward<Args>(args)...));
  }

  void report(const std::vector<Objection>& objections) const {
    for (const Objection& each : objections) report({each.path, each.proposal}, "{}", each.message);
  }

  /// Reports a name that is not among those that are known. `title`: "a topology".
  void check_name(const char* path, const std::string& name, const std::vector<std::string>& known,
                  std::string_view title) const {
    if (!sound({path}) || std::ranges::find(known, name) != known.end()) return;
    report({path, did_you_mean(name, known)}, "{} is not {}", quoted(name), title);
  }

 private:
  void write(const BrokenRule& rule, const std::string& message) const {
    std::string path(rule.path);
    while (!stated(path) && path.find('.') != std::string::npos) path.erase(path.rfind('.'));
    const Place* place = reading_->places.find(path);
    reading_->problems.add(place == nullptr ? reading_->places.at("") : *place,
                           std::string(rule.path), message, std::string(rule.proposal));
  }

  Reading* reading_ = nullptr;
  mutable bool broken_ = false;
};

}  // namespace stepsim
