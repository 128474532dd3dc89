// Cells of a line of a measured table without quotes.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace stepsim {

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace stepsim
