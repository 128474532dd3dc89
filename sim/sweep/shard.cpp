// Reads "i/n" as a part of the points.
#include "sim/sweep/shard.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {

Shard shard_of(const std::string& text) {
  if (text.empty()) return {};
  Shard shard;
  const std::size_t slash = text.find('/');
  try {
    if (slash == std::string::npos) throw Mistake{};
    read_scalar(text.substr(0, slash), shard.part);
    read_scalar(text.substr(slash + 1), shard.of);
    if (shard.part < 1 || shard.part > shard.of) throw Mistake{};
    return shard;
  } catch (const Mistake&) {
    throw UserError(fmt::format("--shard '{}' is no part of a whole, write 1/4 to 4/4", text));
  }
}

std::string default_store(const std::string& scenario, const Shard& shard) {
  const std::string part = shard.is_all() ? "" : fmt::format(".{}-of-{}", shard.part, shard.of);
  return std::filesystem::path(scenario).replace_extension(part + ".sweep.db").string();
}

}  // namespace stepsim
