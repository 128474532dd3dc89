// What does not fit together in a scenario: found by the room that knows, reported by the reader.
#pragma once

#include <string>

namespace stepsim {

struct Objection {
  std::string path;      ///< dotted key, as in "cluster.inter_node.sizes"
  std::string message;   ///< what is wrong, in a sentence
  std::string proposal;  ///< what to do instead; may be empty
};

}  // namespace stepsim
