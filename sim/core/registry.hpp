// A list of named choices that each file adds itself to: schedules, collectives, topologies.
//
// A choice is a plain object at namespace scope in its own .cpp:
//   const Registered<Schedule> registered{{.name = "gpipe", .description = "...", .order = order}};
// Adding one is one file and one line of CMake. The library is an OBJECT library, so that no linker
// drops a file that nothing names.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// All choices of kind T, in order of their name. T has `std::string_view name`.
template <class T>
class Registry {
 public:
  static const std::vector<const T*>& all() { return entries(); }

  /// The choice called `name`, or nullptr.
  static const T* find(std::string_view name) {
    for (const T* entry : entries()) {
      if (entry->name == name) return entry;
    }
    return nullptr;
  }

  static std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const T* entry : entries()) result.emplace_back(entry->name);
    return result;
  }

  static void add(const T* entry) {
    auto& list = entries();
    const auto place =
        std::ranges::find_if(list, [&](const T* other) { return entry->name < other->name; });
    list.insert(place, entry);
  }

 private:
  static std::vector<const T*>& entries() {
    static std::vector<const T*> list;
    return list;
  }
};

/// Holds a choice and puts it on the list when the program starts.
template <class T>
struct Registered {
  explicit Registered(T choice) : value(std::move(choice)) { Registry<T>::add(&value); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  T value;
};

}  // namespace stepsim
