// Reads products out of operators' sizes.
#include "sim/recording/products/product.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/words.hpp"
#include "sim/recording/products/product_type.hpp"

namespace stepsim {
namespace {

/// Judgement: a tensor of more elements, 2 TiB in 16 bits, is a damaged one, for no GPU holds it.
constexpr double kMostElements = 0x1p40;

/// Judgement: inputs of fewer channels are pictures, whose gradient nobody asks for.
constexpr std::int64_t kMostPictureChannels = 4;

double product(const Sizes& sizes) {
  double all = 1;
  for (const std::int64_t size : sizes) all *= static_cast<double>(size);
  return all;
}

const Sizes* argument(const RecordedShape& shape, std::size_t index, std::size_t least) {
  if (index >= shape.sizes.size()) return nullptr;
  const Sizes& sizes = shape.sizes[index];
  const bool is_tensor = sizes.size() >= least && product(sizes) <= kMostElements &&
                         std::ranges::all_of(sizes, [](std::int64_t size) { return size > 0; });
  return is_tensor ? &sizes : nullptr;
}

std::optional<Product> matrix_product(const Sizes& a, const Sizes& b, Precision precision) {
  const std::size_t rank = a.size();
  if (rank > 3 || b.size() != rank || a[rank - 1] != b[rank - 2] || (rank == 3 && a[0] != b[0]))
    return std::nullopt;
  Gemm gemm{.m = a[rank - 2], .n = b[rank - 1], .k = a[rank - 1], .precision = precision};
  if (rank == 3) gemm.batch = a[0];
  gemm.alignment = alignment_of(gemm.k, gemm.n);
  const std::string title = fmt::format("{} x {} x {}", gemm.m, gemm.n, gemm.k);
  return Product{
      gemm.batch > 1 ? fmt::format("{} of {}", gemm.batch, title) : title, gemm.flops(), {gemm}};
}

struct ConvolutionSizes {
  const Sizes& input;
  const Sizes& filter;
  const Sizes& output;  ///< spatial
  std::int64_t groups() const { return input[1] / filter[1]; }
  std::int64_t stride() const { return (input[2] + output[0] - 1) / output[0]; }
};

/// Sizes that only an ordinary convolution has; a transposed one has another output and other FLOPs.
bool is_ordinary(const ConvolutionSizes& sizes) {
  if (sizes.filter.size() != sizes.input.size() || sizes.output.size() + 2 != sizes.input.size() ||
      sizes.input[1] % sizes.filter[1] != 0)
    return false;
  for (std::size_t i = 0; i < sizes.output.size(); ++i) {
    if (sizes.output[i] > sizes.input[i + 2] + sizes.filter[i + 2] - 1) return false;
  }
  return true;
}

/// The kernels of a pass, where GPU profiles can have them: square images, and odd filters that are
/// padded by half.
std::vector<Work> convolution_works(const ConvolutionSizes& sizes, Precision precision,
                                    bool is_backward) {
  const auto& [input, filter, output] = sizes;
  const bool is_square = input.size() == 4 && input[2] == input[3] && filter[2] == filter[3] &&
                         output[0] == output[1] && filter[2] % 2 == 1;
  if (!is_square) return {};
  Convolution c{.batch = input[0],
                .in_channels = input[1],
                .out_channels = filter[0],
                .image = input[2],
                .filter = filter[2],
                .stride = sizes.stride(),
                .precision = precision,
                .groups = sizes.groups()};
  if (c.out_image() != output[0]) return {};
  if (!is_backward) return {c};
  std::vector<Work> works;
  if (input[1] > kMostPictureChannels) {
    c.pass = ConvolutionPass::input_gradient;
    works.emplace_back(c);
  }
  c.pass = ConvolutionPass::weight_gradient;
  works.emplace_back(c);
  return works;
}

std::string convolution_title(const ConvolutionSizes& sizes, bool is_backward) {
  const Sizes window(sizes.filter.begin() + 2, sizes.filter.end());
  const Sizes image(sizes.input.begin() + 2, sizes.input.end());
  std::string kind = fmt::format("{}{}", is_backward ? "grad " : "", fmt::join(window, "x"));
  if (sizes.stride() > 1) kind += fmt::format("/{}", sizes.stride());
  if (sizes.groups() > 1) kind += fmt::format(" g{}", sizes.groups());
  return fmt::format("{}, {}-{}, {} of {}", kind, sizes.input[1], sizes.filter[0], sizes.input[0],
                     fmt::join(image, "x"));
}

std::optional<Product> convolution(const ConvolutionSizes& sizes, Precision precision,
                                   bool is_backward) {
  if (!is_ordinary(sizes)) return std::nullopt;
  const bool has_two = is_backward && sizes.input[1] > kMostPictureChannels;
  const double one_pass =
      2 * static_cast<double>(sizes.input[0]) * product(sizes.output) * product(sizes.filter);
  return Product{convolution_title(sizes, is_backward), Flops{(has_two ? 2 : 1) * one_pass},
                 convolution_works(sizes, precision, is_backward)};
}

/// Queries, keys and values are batch x heads x tokens x width (torch, scaled_dot_product_attention).
std::optional<Product> attention(const Sizes& queries, const Sizes& keys, const Sizes& values,
                                 bool is_backward) {
  if (queries.size() != 4 || keys.size() != 4 || values.size() != 4) return std::nullopt;
  const FusedAttention whole{.batch = queries[0],
                             .heads = queries[1],
                             .head_dim = queries[3],
                             .sequence = queries[2],
                             .backward = is_backward,
                             .value_dim = values[3],
                             .causal = false,
                             .keys = keys[2]};
  return Product{fmt::format("{}attention, {} of {} x {}, {} x {}", is_backward ? "grad " : "",
                             queries[0], queries[1], queries[3], queries[2], keys[2]),
                 whole.flops(),
                 {}};
}

/// The gradient of its output: batch, channels and spatial sizes. nullptr where they do not fit.
const Sizes* gradient_of_output(const ProductOperator& operation, const RecordedShape& shape) {
  const Sizes* const input = argument(shape, operation.first, 3);
  const Sizes* const filter = argument(shape, operation.second, 3);
  const Sizes* const gradient = argument(shape, operation.result, 3);
  const bool fits = input != nullptr && filter != nullptr && gradient != nullptr &&
                    (*gradient)[0] == (*input)[0] && (*gradient)[1] == (*filter)[0];
  return fits ? gradient : nullptr;
}

Sizes spatial(const Sizes& sizes) { return {sizes.begin() + 2, sizes.end()}; }

}  // namespace

OutputSizes output_sizes(const Recording& recording) {
  OutputSizes outputs;
  for (const RecordedShape& shape : recording.shapes) {
    const ProductOperator* const of = product_operator(recording.names[shape.name]);
    if (of == nullptr || of->form != ProductForm::convolution_backward) continue;
    const Sizes* const gradient = gradient_of_output(*of, shape);
    if (gradient == nullptr) continue;
    const auto [entry, is_new] =
        outputs.try_emplace({shape.sizes[of->first], shape.sizes[of->second]}, spatial(*gradient));
    if (!is_new && entry->second != spatial(*gradient)) entry->second.clear();
  }
  return outputs;
}

std::optional<Precision> precision_of(const RecordedShape& shape, std::string_view kernel) {
  const std::string_view type = shape.type;
  if (type.ends_with("BFloat16")) return Precision::bf16;
  if (type.ends_with("Half")) return Precision::fp16;
  if (type.find("Float8") != type.npos) return Precision::fp8;
  if (type != "float") return std::nullopt;
  return product_type_in(in_lower_case(std::string(kernel))) == "tf32" ? Precision::tf32
                                                                       : Precision::fp32;
}

std::optional<Product> product_of(const ProductOperator& operation, const RecordedShape& shape,
                                  Precision precision, const OutputSizes& outputs) {
  const Sizes* const first = argument(shape, operation.first, 2);
  const Sizes* const second = argument(shape, operation.second, 2);
  if (first == nullptr || second == nullptr) return std::nullopt;
  const bool is_backward = operation.name.ends_with("_backward");
  switch (operation.form) {
    case ProductForm::product:
      return matrix_product(*first, *second, precision);
    case ProductForm::attention: {
      const Sizes* const values = argument(shape, operation.second + 1, 2);
      return values == nullptr ? std::nullopt : attention(*first, *second, *values, is_backward);
    }
    case ProductForm::convolution: {
      const auto output = outputs.find({*first, *second});
      if (output == outputs.end() || output->second.empty()) return std::nullopt;
      return convolution({*first, *second, output->second}, precision, false);
    }
    case ProductForm::convolution_backward: {
      const Sizes* const gradient = gradient_of_output(operation, shape);
      if (gradient == nullptr) return std::nullopt;
      return convolution({*first, *second, spatial(*gradient)}, precision, true);
    }
  }
  return std::nullopt;
}

}  // namespace stepsim
