// Opens pipes, and reads the two formats as far as they are needed.
#include "validate/trainer/selfcheck/programs.hpp"

#include <array>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace stepsim::selfcheck {

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  std::array<char, 4096> part = {};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command + "\n" + text);
  return text;
}

double cell(const std::string& csv, const std::string& column) {
  std::istringstream lines(csv);
  std::string names, values;
  std::getline(lines, names);
  std::getline(lines, values);
  std::istringstream name_cells(names), value_cells(values);
  std::string name, value;
  while (std::getline(name_cells, name, ',') && std::getline(value_cells, value, ','))
    if (name == column) return std::stod(value);
  throw std::runtime_error("no column " + column + " in " + csv);
}

double number_in(const std::string& json, const std::string& key) {
  const std::size_t at = json.find("\"" + key + "\":");
  if (at == std::string::npos) throw std::runtime_error("no " + key + " in " + json);
  return std::stod(json.substr(at + key.size() + 3));
}

}  // namespace stepsim::selfcheck
