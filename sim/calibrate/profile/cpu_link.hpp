// From sums over the ranks of a CPU to a profile of the link between them.
#pragma once

#include <optional>
#include <string>

#include "sim/calibrate/profile/profile_draft.hpp"

namespace stepsim {

/// A ring over two ranks takes two steps and S / bandwidth: so that it takes what was measured.
/// Nothing where too few sums were. Throws UserError where their times do not grow with their
/// bytes.
std::optional<LinkDraft> cpu_link(const MeasuredFile& file, const std::string& name,
                                  const ProfileOrigin& origin);

}  // namespace stepsim
