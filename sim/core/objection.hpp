// What does not fit together in a scenario, said by the room that knows, reported by the reader.
#pragma once

#include <string>

namespace stepsim {

struct Objection {
  std::string path;      ///< dotted key: "cluster.inter_node.sizes"
  std::string message;   ///< a sentence
  std::string proposal;  ///< what to do instead; may be empty
};

}  // namespace stepsim
