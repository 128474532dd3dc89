// What attention sees of sequences that are packed of documents: how many keys a token has on
// average, and how much more work the busiest rank gets.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Lengths of documents, in tokens, each as likely: the quantiles of the scenario's distribution in
/// the middle of equal shares, cut at the length of a sequence. REQUIRES: training.packing.
std::vector<double> document_lengths(const Scenario& scenario);

/// Keys in a document of l tokens that its causal attention multiplies with queries, a query on
/// average: l / 2, or with a window of w < l tokens w - w^2 / (2 l). 0 is no window.
double mean_keys(double length, std::int64_t window);

/// Attention of packed sequences, in one kind of layers.
struct PackedAttention {
  /// Twice the keys that a token sees on average under a causal mask; without a window the mean
  /// length of the document around a token, E[l^2] / E[l].
  double keys = 0;
  double imbalance = 1;  ///< work of the busiest rank over the average
};

/// With d documents l of work W = l * mean_keys(l), keys is 2 r, r = sum(W) / sum(l).
///
/// A rank gets packs of s tokens. By the central limit theorem for sums of rewards up to a sum of
/// lengths (W. Feller, An Introduction to Probability Theory and Its Applications, volume 2, 2nd
/// edition, 1971, section XI.5; D. R. Cox, Renewal Theory, 1962, section 8.3) the work of t tokens
/// has the mean r t and the variance E[(W - r l)^2] t / E[l]. The busiest of n ranks then has
/// 1 + sqrt(E[(W - r l)^2] / (E[l] t)) / r * m(n) times the mean, where m(n) is the mean of the
/// largest of n normal draws (core/expected_maximum.hpp), and at most that of whole sequences.
///
/// Data ranks meet when gradients are reduced, so that t is the tokens of a step; in each pass
/// where parameters are gathered (ZeRO 3) or tokens are exchanged with experts, so that t is the
/// tokens of a pass and n the ranks that meet. The larger of both counts. Context ranks of kind
/// all_gather have parts of the sequence, not of each document, and meet in each layer.
/// REQUIRES: training.packing; the batch is split evenly.
PackedAttention packed_attention(const Scenario& scenario, std::int64_t window);

/// The length of equal documents in which a token sees so many keys: the inverse of mean_keys.
/// REQUIRES: keys are less than the window, unless that is 0.
double equal_document(double mean_keys, std::int64_t window);

}  // namespace stepsim
