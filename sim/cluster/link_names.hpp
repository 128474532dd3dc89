// Links by name, many with a pattern: "leaf * up".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/network.hpp"

namespace stepsim {

/// Whether the pattern is the text, a * standing for any text.
bool matches(std::string_view pattern, std::string_view text);

/// All links whose name matches, in order.
std::vector<LinkId> links_named(const std::string& pattern, const Network& network);

/// What somebody may have meant who wrote a pattern that matches nothing: "did you mean 'leaf 3
/// up'?", or where to look.
std::string proposal_for(const std::string& pattern, const Network& network);

/// Others' load of one link.
struct LinkLoad {
  LinkId link = 0;
  BytesPerSecond rate;
};

/// The cluster's `background`, link by link; what several entries say of one adds up.
std::vector<LinkLoad> background_of(const Network& network);

/// Entries of `background` and `faults.slow_links` that name no link of the scenario, whose cluster
/// must be sound.
std::vector<Objection> link_name_objections(const Scenario& scenario);

}  // namespace stepsim
