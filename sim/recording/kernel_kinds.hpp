// What kind of work a kernel does, by its name: the table calib/kernels.yaml.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/names.hpp"
#include "sim/core/source.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {

enum class KernelKind : std::uint8_t {
  communication,
  gemm,
  attention,
  convolution,
  norm,
  softmax,
  loss,
  optimizer,
  embedding,
  reduction,
  sort,
  pooling,
  quantization,
  copy,
  elementwise,
  unknown,  ///< no pattern knows the name
};

template <>
inline constexpr auto kNames<KernelKind> = names_until(KernelKind::unknown, "communication", "gemm",
                                                       "attention", "convolution", "norm",
                                                       "softmax", "loss", "optimizer", "embedding",
                                                       "reduction", "sort", "pooling",
                                                       "quantization", "copy", "elementwise",
                                                       "unknown");

/// Whether such kernels are products of matrices, or are made of them.
constexpr bool multiplies(KernelKind kind) {
  return kind == KernelKind::gemm || kind == KernelKind::convolution ||
         kind == KernelKind::attention;
}

/// A row of the table.
struct KernelPattern {
  /// Parts of a name that follow each other in it, with anything between them, in lower case.
  std::vector<std::string> parts;
  std::string text;  ///< as it is written: parts with `*` between them
  KernelKind kind = KernelKind::unknown;
  std::string example;  ///< a kernel's name that it is meant for
};

/// The table: of the patterns that a name matches, the first says its kind.
class KernelKinds {
 public:
  explicit KernelKinds(std::vector<KernelPattern> patterns) : patterns_(std::move(patterns)) {}
  /// Letters may be large or small.
  KernelKind kind_of(std::string_view name) const;
  const std::vector<KernelPattern>& patterns() const { return patterns_; }

 private:
  std::vector<KernelPattern> patterns_;
};

/// Whether the name, in lower case, has the pattern's parts.
bool matches(const KernelPattern& pattern, std::string_view lower_case_name);

/// Reads a table. Throws UserError with every mistake.
KernelKinds parse_kernel_kinds(const std::shared_ptr<const Source>& source);
/// calib/kernels.yaml of the first folder of the library that has it. Throws IoError where none
/// has.
KernelKinds load_kernel_kinds(const Library& library);

}  // namespace stepsim
