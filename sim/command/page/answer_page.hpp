// Documents that pages of several commands have beside their results.
#pragma once

#include "sim/page/page.hpp"

namespace stepsim {

/// The words for causes, for pages that have no timeline, which has them, too.
PageDocument causes_document();

}  // namespace stepsim
