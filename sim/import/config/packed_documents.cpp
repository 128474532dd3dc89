// What is assumed of the lengths of documents.
#include "sim/import/config/packed_documents.hpp"

#include <fmt/format.h>

namespace stepsim {

void assume_whole_documents(std::string_view said, Draft& draft) {
  draft.assume({"documents", "one a sequence",
                fmt::format("{}: tokens attend to those of their own document, but how long "
                            "documents are is not in a configuration",
                            said),
                "training.packing: {mean: TOKENS} in the scenario"});
}

}  // namespace stepsim
