// Reads products out of operators' sizes, in the order of arguments that PyTorch gives them
// (pytorch, aten/src/ATen/native/native_functions.yaml).
#include "sim/recording/products/product.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/words.hpp"
#include "sim/recording/products/product_type.hpp"

namespace stepsim {
namespace {

using Sizes = std::vector<std::int64_t>;

enum class Form : std::uint8_t { product, convolution, convolution_backward, attention };

/// An operator, and where among its arguments the two factors stand: of convolutions input and
/// filter, of attention queries and keys.
struct Operator {
  std::string_view name;
  Form form;
  std::size_t first, second;
  std::size_t result = 0;  ///< of a backward convolution: the gradient of its output
};

constexpr std::array<Operator, 14> kOperators{
    {{"mm", Form::product, 0, 1},
     {"bmm", Form::product, 0, 1},
     {"addmm", Form::product, 1, 2},
     {"baddbmm", Form::product, 1, 2},
     {"_scaled_mm", Form::product, 0, 1},
     {"convolution", Form::convolution, 0, 1},
     {"convolution_backward", Form::convolution_backward, 1, 2, 0},
     {"cudnn_convolution_backward", Form::convolution_backward, 0, 2, 1},
     {"_scaled_dot_product_flash_attention", Form::attention, 0, 1},
     {"_scaled_dot_product_efficient_attention", Form::attention, 0, 1},
     {"_scaled_dot_product_cudnn_attention", Form::attention, 0, 1},
     {"_scaled_dot_product_flash_attention_backward", Form::attention, 1, 2},
     {"_scaled_dot_product_efficient_attention_backward", Form::attention, 1, 2},
     {"_scaled_dot_product_cudnn_attention_backward", Form::attention, 1, 2}}};

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;  // more is no size of a tensor

const Operator* operator_of(std::string_view name) {
  if (!name.starts_with("aten::")) return nullptr;
  name.remove_prefix(6);
  const auto found = std::ranges::find(kOperators, name, &Operator::name);
  return found == kOperators.end() ? nullptr : &*found;
}

const Sizes* argument(const RecordedShape& shape, std::size_t index, std::size_t least) {
  if (index >= shape.sizes.size()) return nullptr;
  const Sizes& sizes = shape.sizes[index];
  const bool is_tensor = sizes.size() >= least && std::ranges::all_of(sizes, [](std::int64_t size) {
                           return size > 0 && size < kMostElements;
                         });
  return is_tensor ? &sizes : nullptr;
}

double product(const Sizes& sizes, std::size_t from = 0) {
  double all = 1;
  for (std::size_t i = from; i < sizes.size(); ++i) all *= static_cast<double>(sizes[i]);
  return all;
}

std::optional<Product> matrix_product(const Sizes& a, const Sizes& b, Precision precision) {
  const std::size_t rank = a.size();
  if (rank > 3 || b.size() != rank || a[rank - 1] != b[rank - 2] || (rank == 3 && a[0] != b[0]))
    return std::nullopt;
  Gemm gemm{.m = a[rank - 2], .n = b[rank - 1], .k = a[rank - 1], .precision = precision};
  if (rank == 3) gemm.batch = a[0];
  gemm.alignment = alignment_of(gemm.k, gemm.n);
  const std::string title = fmt::format("{} x {} x {}", gemm.m, gemm.n, gemm.k);
  return Product{gemm.batch > 1 ? fmt::format("{} of {}", gemm.batch, title) : title,
                 gemm.flops().flops(),
                 {gemm}};
}

/// What of a pass has square images and filters that are padded by half of themselves.
std::vector<Work> convolution_works(const Sizes& input, const Sizes& filter, const Sizes& edges,
                                    Precision precision, bool is_backward) {
  const bool is_square = input.size() == 4 && filter.size() == 4 && edges.size() == 2 &&
                         input[2] == input[3] && filter[2] == filter[3] && edges[0] == edges[1] &&
                         filter[2] % 2 == 1;
  if (!is_square) return {};
  Convolution c{.batch = input[0],
                .in_channels = input[1],
                .out_channels = filter[0],
                .image = input[2],
                .filter = filter[2],
                .stride = std::max<std::int64_t>(1, input[2] / edges[0]),
                .precision = precision,
                .groups = std::max<std::int64_t>(1, input[1] / filter[1])};
  if (c.out_image() != edges[0]) return {};
  if (!is_backward) return {c};
  std::vector<Work> works;
  for (const ConvolutionPass pass :
       {ConvolutionPass::input_gradient, ConvolutionPass::weight_gradient}) {
    c.pass = pass;
    works.push_back(c);
  }
  return works;
}

/// Images have at most four channels, and nobody asks for their gradient.
bool is_of_images(const Sizes& input) { return input[1] <= 4; }

std::optional<Product> convolution(const Sizes& input, const Sizes& filter, const Sizes& edges,
                                   Precision precision, bool is_backward) {
  // A transposed convolution has an output that is larger than its input, and other FLOPs.
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i] > input[i + 2] + filter[i + 2]) return std::nullopt;
  }
  const bool has_two = is_backward && !is_of_images(input);
  std::vector<Work> works = convolution_works(input, filter, edges, precision, is_backward);
  if (is_backward && !has_two && !works.empty()) works.erase(works.begin());
  const Sizes window(filter.begin() + 2, filter.end());
  return Product{
      fmt::format("{}: {} x {} channels, {} x {}{}", fmt::join(window, "x"), input[1], filter[0],
                  input[0], fmt::join(edges, "x"), is_backward ? ", gradients" : ""),
      (has_two ? 4.0 : 2.0) * static_cast<double>(input[0]) * product(edges) * product(filter),
      std::move(works)};
}

/// Queries and keys are batch x heads x tokens x width (torch, scaled_dot_product_attention).
std::optional<Product> attention(const Sizes& queries, const Sizes& keys, bool is_backward) {
  if (queries.size() != 4 || keys.size() != 4) return std::nullopt;
  const FusedAttention whole{.batch = queries[0],
                             .heads = queries[1],
                             .head_dim = queries[3],
                             .sequence = queries[2],
                             .backward = is_backward,
                             .causal = false,
                             .keys = keys[2]};
  return Product{
      fmt::format("attention: {} x {} heads of {}, {} x {} tokens{}", queries[0], queries[1],
                  queries[3], queries[2], keys[2], is_backward ? ", backward" : ""),
      whole.flops().flops(),
      {}};
}

}  // namespace

bool is_product(std::string_view operation) { return operator_of(operation) != nullptr; }

OutputEdges output_edges(const Recording& recording) {
  OutputEdges edges;
  for (const RecordedShape& shape : recording.shapes) {
    const Operator* const of = operator_of(recording.names[shape.name]);
    if (of == nullptr || of->form != Form::convolution_backward) continue;
    const Sizes* const input = argument(shape, of->first, 3);
    const Sizes* const filter = argument(shape, of->second, 3);
    const Sizes* const output = argument(shape, of->result, 3);
    if (input != nullptr && filter != nullptr && output != nullptr)
      edges[{*input, *filter}] = Sizes(output->begin() + 2, output->end());
  }
  return edges;
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

std::optional<Product> product_of(std::string_view operation, const RecordedShape& shape,
                                  Precision precision, const OutputEdges& edges) {
  const Operator* const of = operator_of(operation);
  if (of == nullptr) return std::nullopt;
  const Sizes* const first = argument(shape, of->first, 2);
  const Sizes* const second = argument(shape, of->second, 2);
  if (first == nullptr || second == nullptr) return std::nullopt;
  const bool is_backward = operation.ends_with("_backward");
  if (of->form == Form::product) return matrix_product(*first, *second, precision);
  if (of->form == Form::attention) return attention(*first, *second, is_backward);
  const auto edge = edges.find({*first, *second});
  const bool is_whole = edge != edges.end() && first->size() == second->size() &&
                        edge->second.size() + 2 == first->size();
  if (!is_whole) return std::nullopt;
  return convolution(*first, *second, edge->second, precision, is_backward);
}

}  // namespace stepsim
