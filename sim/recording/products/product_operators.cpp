// The table of operators.
#include "sim/recording/products/product_operators.hpp"

#include <algorithm>
#include <array>

namespace stepsim {
namespace {

constexpr std::string_view kNamespace = "aten::";

constexpr std::array<ProductOperator, 14> kOperators{
    {{"mm", ProductForm::product, 0, 1, 0},
     {"bmm", ProductForm::product, 0, 1, 0},
     {"addmm", ProductForm::product, 1, 2, 0},
     {"baddbmm", ProductForm::product, 1, 2, 0},
     {"_scaled_mm", ProductForm::product, 0, 1, 0},
     {"convolution", ProductForm::convolution, 0, 1, 0},
     {"convolution_backward", ProductForm::convolution_backward, 1, 2, 0},
     {"cudnn_convolution_backward", ProductForm::convolution_backward, 0, 2, 1},
     {"_scaled_dot_product_flash_attention", ProductForm::attention, 0, 1, 0},
     {"_scaled_dot_product_efficient_attention", ProductForm::attention, 0, 1, 0},
     {"_scaled_dot_product_cudnn_attention", ProductForm::attention, 0, 1, 0},
     {"_scaled_dot_product_flash_attention_backward", ProductForm::attention, 1, 2, 0},
     {"_scaled_dot_product_efficient_attention_backward", ProductForm::attention, 1, 2, 0},
     {"_scaled_dot_product_cudnn_attention_backward", ProductForm::attention, 1, 2, 0}}};

}  // namespace

const ProductOperator* product_operator(std::string_view operation) {
  if (!operation.starts_with(kNamespace)) return nullptr;
  operation.remove_prefix(kNamespace.size());
  const auto found = std::ranges::find(kOperators, operation, &ProductOperator::name);
  return found == kOperators.end() ? nullptr : &*found;
}

}  // namespace stepsim
