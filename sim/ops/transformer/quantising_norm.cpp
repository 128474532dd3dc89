// Moves the cast of a linear layer's input into the norm before it.
#include "sim/ops/transformer/quantising_norm.hpp"

#include <optional>
#include <utility>

#include "sim/ops/kernels.hpp"
#include "sim/ops/pass.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

using Vertex = OpDag::Vertex;

/// The only op that reads the output of this one.
std::optional<Vertex> only_reader(const OpDag& dag, Vertex of) {
  std::optional<Vertex> reader;
  for (const auto& [from, to] : dag.edges) {
    if (from != of || dag.ops[to].adds_residual) continue;
    if (reader) return std::nullopt;
    reader = to;
  }
  return reader;
}

/// The kernel that writes the norm's output.
MemoryBound* kernel_of(Op& norm) {
  for (Item& item : norm.forward) {
    auto* launch = std::get_if<Launch>(&item);
    if (launch != nullptr && launch->name == norm.name)
      return std::get_if<MemoryBound>(&launch->work);
  }
  return nullptr;
}

void join(Op& norm, Op& linear, const Pass& pass) {
  MemoryBound* kernel = kernel_of(norm);
  if (kernel == nullptr) return;
  const double elements = norm.output.bytes() / pass.element();
  const double narrower = pass.element() - quantised_bytes(pass.quantisation);
  kernel->bytes -= Bytes{narrower * elements};
  linear.forward.erase(linear.forward.begin(), linear.forward.begin() + linear.input_casts);
  linear.input_casts = 0;
  if (pass.copies == 1 || pass.frozen) return;
  const double whole =
      pass.gathers_tokens() ? elements * static_cast<double>(pass.tensor) : elements;
  const double both = 2 * quantised_bytes(pass.quantisation);
  Items backward;
  backward.emplace_back(for_weights(memory_bound(linear.name + " input transpose", both * whole)));
  append(backward, linear.backward);
  linear.backward = std::move(backward);
}

}  // namespace

void quantise_in_norms(OpDag& dag, const Pass& pass) {
  if (!pass.quantises() || pass.quantisation != Quantisation::delayed ||
      !pass.style->quantises_in_norms)
    return;
  for (Vertex v = 0; v < dag.ops.size(); ++v) {
    if (!dag[v].normalises) continue;
    const auto reader = only_reader(dag, v);
    if (reader && dag[*reader].input_casts > 0) join(dag[v], dag[*reader], pass);
  }
}

}  // namespace stepsim
