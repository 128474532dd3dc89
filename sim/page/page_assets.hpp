// The files that each page holds, as the build has put them into the program.
#pragma once

#include <string_view>

namespace stepsim::page_assets {

extern const std::string_view styles;      ///< CSS
extern const std::string_view scripts;     ///< the scripts of this folder, one after another
extern const std::string_view d3;          ///< D3, as it is distributed, without blanks
extern const std::string_view d3_licence;  ///< copyright and terms of D3

}  // namespace stepsim::page_assets
