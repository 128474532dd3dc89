// Reads a machine's files and asks its driver; what cannot be read is as if it were not there.
#include "sim/import/node/machine_files.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/trim.hpp"
#include "sim/process/child.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNvidiaSmi = "nvidia-smi";
/// Without its daemon the driver first starts each GPU, which takes seconds; judgement: a minute is
/// for a node of many.
constexpr Seconds kLimit{60};

}  // namespace

MachineFiles::MachineFiles(std::string root) : root_(std::move(root)) {
  std::error_code ignored;
  if (root_.empty()) return;
  if (!fs::is_directory(root_, ignored))
    throw UserError(fmt::format("--root {}: there is no such folder", root_));
  const fs::path folder(root_);
  if (!fs::exists(folder / "sys", ignored) && !fs::exists(folder / "proc", ignored))
    throw UserError(fmt::format(
        "--root {}: neither sys nor proc is in it, as in a copy of a machine's files", root_));
}

SourcePtr MachineFiles::file(const std::string& path) const {
  std::error_code ignored;
  const std::string name = root_ + path;
  if (!fs::is_regular_file(name, ignored)) return nullptr;
  try {
    return read_source(name, kLargestMeasurements);
  } catch (const IoError&) {
    return nullptr;
  }
}

std::string MachineFiles::line(const std::string& path) const {
  const SourcePtr source = file(path);
  return source == nullptr ? "" : trimmed(source->line(1));
}

std::vector<std::string> MachineFiles::names(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(root_ + folder, failed), end; !failed && entry != end;
       entry.increment(failed))
    names.push_back(entry->path().filename().string());
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) < 0;
  });
  return names;
}

SourcePtr MachineFiles::nvidia_smi(const std::string& name, const std::vector<std::string>& options,
                                   std::string& why) const {
  if (!root_.empty()) {
    const std::string own = fmt::format("/{}-{}.txt", kNvidiaSmi, name);
    SourcePtr source = file(own);
    if (source == nullptr) why = fmt::format("no {}", own.substr(1));
    return source;
  }
  std::vector<std::string> words{find_on_path(kNvidiaSmi)};
  if (words.front().empty()) {
    why = fmt::format("no {}", kNvidiaSmi);
    return nullptr;
  }
  words.insert(words.end(), options.begin(), options.end());
  ChildOutput output;
  try {
    output = output_of_child(words, kLimit);
  } catch (const SimulationError& error) {
    why = error.what();
    return nullptr;
  }
  auto source = std::make_shared<Source>(
      Source{.name = fmt::format("{} {}", kNvidiaSmi, options.front()), .text = output.text});
  if (output.code == 0) return source;
  why = fmt::format("{} exits with {}: {}", kNvidiaSmi, output.code, trimmed(source->line(1)));
  return nullptr;
}

}  // namespace stepsim
