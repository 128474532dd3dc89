// The type in which a kernel multiplies, by its name.
#pragma once

#include <string_view>

namespace stepsim {

/// "bf16", "tf32", as scenarios call them, of a kernel's name in lower case; empty: it does not say.
std::string_view product_type_in(std::string_view lower_case_name);

}  // namespace stepsim
