// Patterns of link names.
#include "sim/cluster/link_names.hpp"

#include <map>

#include <fmt/format.h>

#include "sim/core/suggest.hpp"

namespace stepsim {

bool matches(std::string_view pattern, std::string_view text) {
  // The last * and what it stands for so far: where the rest does not fit, it takes one more.
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

std::vector<Objection> background_objections(const Scenario& scenario) {
  const auto& background = scenario.cluster.background;
  if (background.empty()) return {};
  Network network(scenario.cluster);
  if (scenario.data) network.add_storage(scenario.data->storage_bandwidth);
  std::vector<Objection> objections;
  for (std::size_t i = 0; i < background.size(); ++i) {
    if (!links_named(background[i].links, network).empty()) continue;
    objections.push_back({fmt::format("cluster.background[{}].links", i),
                          fmt::format("no link is called '{}'", background[i].links),
                          proposal_for(background[i].links, network)});
  }
  return objections;
}

}  // namespace stepsim
