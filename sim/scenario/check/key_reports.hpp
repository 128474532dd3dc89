// What all checks of a scenario need: which keys are sound, and where to report about them.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"
#include "sim/scenario/read/map_reader.hpp"

namespace stepsim {

class KeyReports {
 public:
  explicit KeyReports(Reading& reading) : reading_(reading) {}

  /// Whether nothing was reported about these keys.
  bool sound(std::initializer_list<const char*> paths) const {
    return std::none_of(paths.begin(), paths.end(),
                        [&](const char* path) { return reading_.problems.spoiled(path); });
  }

  bool stated(std::string_view path) const {
    return reading_.places.find(path) != reading_.places.end();
  }

  /// Reports at the key, or at the nearest map above it that the file states.
  void report(std::string path, const std::string& message,
              const std::string& proposal = "") const {
    const std::string spoiled = path;
    while (!stated(path) && path.find('.') != std::string::npos) path.erase(path.rfind('.'));
    const auto place = reading_.places.find(path);
    reading_.problems.add(place == reading_.places.end() ? reading_.places[""] : place->second,
                          spoiled, message, proposal);
  }

  /// Reports a name that is not among those that are known. `title`: "a topology".
  void check_name(const char* path, const std::string& name, const std::vector<std::string>& known,
                  std::string_view title) const {
    if (!sound({path}) || std::find(known.begin(), known.end(), name) != known.end()) return;
    report(path, fmt::format("{} is not {}", quoted(name), title), did_you_mean(name, known));
  }

 private:
  Reading& reading_;
};

}  // namespace stepsim
