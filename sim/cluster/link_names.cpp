// Matches patterns with the names of links.
#include "sim/cluster/link_names.hpp"

#include <map>

#include <fmt/format.h>

#include "sim/cluster/input_links.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {

bool matches(std::string_view pattern, std::string_view text) {
  // `star` is the last * of the pattern, which stands for what was taken so far: where the rest
  // does not fit, it takes one more character.
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<LinkId> links_named(const std::string& pattern, const Network& network) {
  std::vector<LinkId> links;
  for (LinkId link = 0; link < network.links().size(); ++link) {
    if (matches(pattern, network.name_of(link))) links.push_back(link);
  }
  return links;
}

std::string proposal_for(const std::string& pattern, const Network& network) {
  std::vector<std::string> names;
  for (LinkId link = 0; link < network.links().size(); ++link)
    names.push_back(network.name_of(link));
  const std::string proposal = closest(pattern, names);
  return proposal.empty() ? "`stepsim show cluster` lists them" : proposal;
}

std::vector<LinkLoad> background_of(const Network& network) {
  std::map<LinkId, BytesPerSecond> rates;
  for (const BackgroundLoad& load : network.cluster().background) {
    for (const LinkId link : links_named(load.links, network)) rates[link] += load.rate;
  }
  std::vector<LinkLoad> loads;
  for (const auto& [link, rate] : rates) loads.push_back({link, rate});
  return loads;
}

std::vector<Objection> link_name_objections(const Scenario& scenario) {
  // the key of each pattern, and the pattern
  std::vector<std::pair<std::string, std::string>> patterns;
  for (std::size_t i = 0; i < scenario.cluster.background.size(); ++i) {
    patterns.emplace_back(fmt::format("cluster.background[{}].links", i),
                          scenario.cluster.background[i].links);
  }
  for (std::size_t i = 0; i < scenario.faults.slow_links.size(); ++i) {
    for (const std::string& links : scenario.faults.slow_links[i].links)
      patterns.emplace_back(fmt::format("faults.slow_links[{}].links", i), links);
  }
  if (patterns.empty()) return {};
  Network network(scenario.cluster);
  add_input_links(network, scenario);
  std::vector<Objection> objections;
  for (const auto& [path, pattern] : patterns) {
    if (!links_named(pattern, network).empty()) continue;
    objections.push_back(
        {path, fmt::format("no link is called '{}'", pattern), proposal_for(pattern, network)});
  }
  return objections;
}

}  // namespace stepsim
