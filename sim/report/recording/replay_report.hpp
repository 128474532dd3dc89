// Writers of what a recording simulated again shows: what each change would give.
#pragma once

#include <optional>
#include <string>

#include "sim/replay/replay.hpp"
#include "sim/report/json_number.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// The changes that gain most, in a table that ends with an empty line. Where too much of the time
/// is not explained, a sentence instead of them.
std::string replay_table(const Replay& replay, const Screen& screen);

/// The gain of the change whose name begins so and that gains most, in a sentence; empty where it
/// is nothing worth a change.
std::string gain_sentence(const Replay& replay, const std::string& change);

/// How the steps came out; null where the recording has none.
Json replay_json(const std::optional<Replay>& replay);
/// What each change would give, the most first.
Json what_if_json(const std::optional<Replay>& replay);

}  // namespace stepsim
