// Databases that are no export of Nsight Systems, by their tables: what they are.
#pragma once

#include <set>
#include <string>

namespace stepsim {

/// What a database with these tables is, in the middle of a sentence. Empty for an export of nsys.
std::string other_database_by_tables(const std::set<std::string>& tables);

}  // namespace stepsim
