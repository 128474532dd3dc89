// Models, clusters and profiles that were read before, for the scenarios that follow.
//
// The points of a sweep and the rows of a suite name the same files again and again, and a cluster
// with its GPU and its links is four fifths of what a scenario takes to read. A part is known again
// by the text that stands for it in the scenario and the place where that stands. Files are not
// read again: what a profile says holds for all scenarios of one library.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "sim/scenario/cluster.hpp"
#include "sim/scenario/model.hpp"
#include "sim/scenario/read/places.hpp"
#include "sim/scenario/read/tree.hpp"

namespace stepsim {

/// A part without a mistake, and the places of its keys.
template <class Part>
struct PartRead {
  Part part;
  std::shared_ptr<const PlacesOfPart> places;
  Tree stated;  ///< keeps the sources alive that the identity of the part tells apart
};

class PartsRead {
 public:
  /// The part of that identity (`part_identity`), or nullptr. It stays until the next `keep`.
  template <class Part>
  const PartRead<Part>* find(const std::string& identity) const {
    const auto& known = std::get<Known<Part>>(known_);
    const auto found = known.find(identity);
    return found != known.end() ? &found->second : nullptr;
  }

  template <class Part>
  void keep(const std::string& identity, PartRead<Part> read) {
    auto& known = std::get<Known<Part>>(known_);
    if (known.size() >= kMost) known.clear();
    known.insert_or_assign(identity, std::move(read));
  }

 private:
  // An axis over sizes of a cluster makes as many clusters: some megabytes of them are kept.
  static constexpr std::size_t kMost = 64;
  template <class Part>
  using Known = std::map<std::string, PartRead<Part>, std::less<>>;

  std::tuple<Known<Model>, Known<Cluster>, Known<GpuProfile>, Known<LinkProfile>> known_;
};

/// Tells apart what the reading of a part depends on: its text with all places, and its path.
std::string part_identity(const Tree& stated, const std::string& path);

}  // namespace stepsim
