// Links by name, many with a pattern: "leaf * up".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/network.hpp"

namespace stepsim {

/// Whether the pattern matches the text; a * stands for any text.
bool matches(std::string_view pattern, std::string_view text);

/// All links whose name matches the pattern, in order.
std::vector<LinkId> links_named(const std::string& pattern, const Network& network);

/// What somebody who wrote a pattern that matches nothing may have meant: "did you mean 'leaf 3
/// up'?", or where to look.
std::string proposal_for(const std::string& pattern, const Network& network);

/// The load that others put on one link.
struct LinkLoad {
  LinkId link = 0;
  BytesPerSecond rate;
};

/// The cluster's `background` by link; the loads of several entries on one link add up.
std::vector<LinkLoad> background_of(const Network& network);

/// The entries of `background` and `faults.slow_links` that name no link of the scenario. REQUIRES:
/// a sound cluster.
std::vector<Objection> link_name_objections(const Scenario& scenario);

}  // namespace stepsim
