// A value for each key that a value alone stands for; one that is new has to be added.
#pragma once

#include <map>
#include <string>

namespace stepsim {

inline const std::map<std::string, std::string> kShorthandValues = {
    {"cluster.node_topology", "nvswitch"},
    {"training.recompute", "full"},
    {"parallelism.context", "2"},
    {"parallelism.expert", "8"},
    {"parallelism.pipeline", "2"},
    {"collectives.all_reduce", "ring"},
    {"collectives.all_gather", "ring"},
    {"collectives.reduce_scatter", "ring"},
    {"collectives.all_to_all", "hierarchical_all_to_all"},
    {"data.storage", "object_store"},
};

}  // namespace stepsim
