// Finds types in names of kernels.
#include "sim/recording/products/product_type.hpp"

#include <array>
#include <utility>

namespace stepsim {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

/// Parts of names of kernels that multiply, in lower case, and the type that they say; the first
/// counts. Names as in calib/kernels.yaml; s1688 without a type multiplies tf32 (NVIDIA/cutlass
/// tools/library), and BBS, HHS and SB are the types of rocBLAS's kernels (ROCm/Tensile).
constexpr std::array<Word, 21> kTypeWords{
    {{"e4m3", "fp8"},      {"fp8", "fp8"},     {"nvjet_qq", "fp8"},   {"bf16", "bf16"},
     {"bfloat16", "bf16"}, {"_bbs_", "bf16"},  {"nvjet_tst", "bf16"}, {"tf32", "tf32"},
     {"fp16", "fp16"},     {"f16", "fp16"},    {"half", "fp16"},      {"h884", "fp16"},
     {"h1688", "fp16"},    {"h16816", "fp16"}, {"nvjet_hsh", "fp16"}, {"_hhs_", "fp16"},
     {"s1688", "tf32"},    {"sgemm", "fp32"},  {"f32f32", "fp32"},    {"_sb_", "fp32"},
     {"float", "fp32"}}};

}  // namespace

std::string_view product_type_in(std::string_view lower_case_name) {
  for (const auto& [word, type] : kTypeWords) {
    if (lower_case_name.find(word) != lower_case_name.npos) return type;
  }
  return "";
}

}  // namespace stepsim
