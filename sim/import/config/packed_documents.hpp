// Sequences that are packed of documents, whose lengths a configuration does not have.
#pragma once

#include <string_view>

#include "sim/import/draft.hpp"

namespace stepsim {

/// Lists as assumed that each sequence is one document, and the key that states what they are
/// packed of. `said`: what says that they are packed, as "packing: true".
void assume_whole_documents(std::string_view said, Draft& draft);

}  // namespace stepsim
