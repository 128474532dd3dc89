// The operators of PyTorch that ask for products of matrices, and where their factors stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stepsim {

enum class ProductForm : std::uint8_t { product, convolution, convolution_backward, attention };

/// Places among an operator's arguments (pytorch, aten/src/ATen/native/native_functions.yaml).
struct ProductOperator {
  std::string_view name;  ///< without "aten::"
  ProductForm form;
  std::size_t first;   ///< the left matrix, the input of a convolution, the queries
  std::size_t second;  ///< the right matrix, the filter, the keys; values stand behind these
  std::size_t result;  ///< of a backward convolution: the gradient of its output
};

/// nullptr: the operator, "aten::mm", is none of them.
const ProductOperator* product_operator(std::string_view operation);

}  // namespace stepsim
