// What Kineto writes beside its events, before or behind them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sim/recording/interval_set.hpp"

namespace stepsim {

/// A GPU as Kineto lists it.
struct KinetoDevice {
  std::string name;
  double memory_bytes = 0;  ///< 0: not said
  int sms = 0;              ///< 0: not said
};

struct KinetoMetadata {
  std::set<std::string> members;                 ///< all names on top of the document
  std::map<std::int64_t, KinetoDevice> devices;  ///< `deviceProperties`, by id
  std::string backend;                           ///< of `distributedInfo`
  std::optional<int> rank, world_size;
  std::optional<Nanoseconds> base;  ///< `baseTimeNanoseconds`: since 1970
  bool has_stacks = false, has_shapes = false, has_memory = false;

  /// Notes a member; a value that is not what it has to be is left out.
  void add(std::string_view key, std::string_view text);
};

}  // namespace stepsim
