// Sequences that are packed of documents, to whose own tokens attention is limited.
#pragma once

#include <optional>
#include <string>

#include "sim/core/distribution.hpp"

namespace stepsim {

/// What the sequences of a batch are made of: documents behind one another, until sequence_length
/// is full, each with a mask of its own (block-diagonal), as kernels for sequences of several
/// lengths compute it.
struct SequencePacking {
  std::string distribution = "lognormal";  ///< a name of `stepsim list distributions`
  /// tokens of a document; mean 0: that of `values`. Without a sigma all are as long.
  Spread spread{.mean = 0};
  /// work of attention of the busiest rank over the average; absent: as lengths make it
  /// (packed_attention)
  std::optional<double> imbalance;
  bool operator==(const SequencePacking&) const = default;
};

}  // namespace stepsim
