// An export of Nsight Systems, and what `explain` makes of it.
#include "sim/recording/nsys/read_nsys.hpp"
#include "tests/fuzz/database.hpp"
#include "tests/fuzz/explained.hpp"

namespace stepsim {

void read_text(const std::string& text) { explain_all(read_nsys(database_of(text))); }

}  // namespace stepsim
