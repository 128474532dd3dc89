// Reads files as the fuzzer reads its inputs, one after the other; ends at the first find.
//
// Arguments: files that have to be read, then `--or-refused`, then files that may be refused.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/fuzz/fuzz.hpp"

namespace {

/// Says on standard error why the file is no good; "" where it is.
std::string complaint_about(const std::string& path, bool may_be_refused) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "cannot be opened";
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    const std::string refusal = stepsim::refusal_of(text);
    return may_be_refused || refusal.empty() ? "" : "refused: " + refusal;
  } catch (const std::exception& error) {
    return std::string("a defect: ") + error.what();
  }
}

}  // namespace

int main(int count, char** words) {
  stepsim::use_fuzz_library();
  bool may_be_refused = false;
  int files = 0;
  for (int i = 1; i < count; ++i) {
    const std::string path = words[i];
    if (path == "--or-refused") {
      may_be_refused = true;
      continue;
    }
    const std::string complaint = complaint_about(path, may_be_refused);
    if (!complaint.empty()) {
      std::cerr << path << ": " << complaint << '\n';
      return 1;
    }
    ++files;
  }
  std::cout << files << " files: each is read, or refused as it may be\n";
  return files > 0 ? 0 : 1;
}
