// stepsim calibrate fit: files of measurements to files of profiles.
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "sim/calibrate/profile/calibration.hpp"
#include "sim/command/calibrate.hpp"
#include "sim/core/shell_word.hpp"
#include "sim/core/source.hpp"
#include "sim/text/file.hpp"
#include "sim/text/seal.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "stepsim calibrate fit";

/// "my-h100" from "calib/gpus/my-h100.yaml": profiles are found by their files' names. "" from "".
std::string name_of_profile(const std::string& option, const std::string& file) {
  if (file.empty()) return "";
  const fs::path path(file);
  if (path.extension() != ".yaml" && path.extension() != ".yml")
    throw UserError(fmt::format("{} {}: a profile is a file that ends in .yaml", option, file));
  return path.stem().string();
}

/// The files to write: profiles of a GPU and a link, a cluster.
struct Outputs {
  Output gpu, link, fabric;
  std::vector<Output> all() const { return {gpu, link, fabric}; }
};

Outputs outputs_of(const CalibrateFitOptions& options) {
  const auto of = [&](const char* option, const std::string& file) -> Output {
    return {option, file, sealed_by(kCommand), options.force};
  };
  return {of("-o", options.output), of("--link", options.link), of("--fabric", options.fabric)};
}

/// What is written names a file from anywhere, and the library's clusters by their names.
std::string absolute_file(const std::string& cluster) {
  std::error_code ignored;
  return fs::is_regular_file(cluster, ignored) ? fs::absolute(cluster, ignored).string() : cluster;
}

void refuse_nothing(const CalibrateFitOptions& options) {
  if (options.output.empty() && options.link.empty() && options.fabric.empty())
    throw UserError(
        "nothing to write: -o calib/gpus/NAME.yaml for a GPU's profile, --link "
        "calib/links/NAME.yaml for collectives of one node, --fabric NAME.yaml for those of "
        "several");
}

// Judgement: where two machines are alike, times of three digits are equal in one row of fifty.
constexpr double kShareOfCopy = 0.1;

/// A row that another file has as well, with its time.
struct SharedRow {
  Place place;
  std::string name;
  Place first;
};

/// By the name of the other file; what this file has is added to `seen`.
std::map<std::string, std::vector<SharedRow>> shared_rows(const MeasuredFile& file,
                                                          std::map<std::string, Place>& seen) {
  std::map<std::string, std::vector<SharedRow>> shared;
  for (std::size_t i = 0; i < file.places.size(); ++i) {
    const PointRecord& record = file.content.records[i];
    if (!record.skipped.empty()) continue;
    const std::string name =
        fmt::format("{} seconds={}", identity(record.point), record.measured.timing.seconds);
    const auto [first, is_new] = seen.emplace(name, file.places[i]);
    if (!is_new && first->second.source != file.places[i].source)
      shared[first->second.source->name].push_back({file.places[i], name, first->second});
  }
  return shared;
}

/// How a scenario names what was written; profiles are found in calib/ of a folder that is looked
/// at.
std::string how_to_use(const CalibrateFitOptions& options) {
  if (options.output.empty() && options.link.empty())
    return fmt::format("stepsim run SCENARIO --set cluster={}\n", shell_word(options.fabric));
  std::string root,
      settings = options.fabric.empty() ? "" : " --set cluster=" + shell_word(options.fabric);
  for (const auto& [file, kind, key] :
       {std::tuple{options.output, "gpus", "gpu"}, {options.link, "links", "intra_node"}}) {
    if (file.empty()) continue;
    const fs::path folder = fs::path(file).parent_path();
    if (folder.filename() != kind || folder.parent_path().filename() != "calib")
      return fmt::format(
          "Scenarios find profiles in calib/{0}/: move {1} there, or to such a folder below one "
          "that STEPSIM_LIBRARY names\n",
          kind, file);
    root = folder.parent_path().parent_path().string();
    settings += fmt::format(" --set cluster.{}={}", key, shell_word(fs::path(file).stem()));
  }
  return fmt::format("STEPSIM_LIBRARY={} stepsim run SCENARIO{}\n",
                     root.empty() ? "." : shell_word(root), settings);
}

/// Refuses a file and its copy: the same points would be on both sides of a fit that keeps half of
/// them apart. Machines that are alike may have measured the same points, mostly in other times.
void check_copies_of_files(const std::vector<MeasuredFile>& files, Problems& problems) {
  std::map<std::string, Place> seen;
  for (const MeasuredFile& file : files) {
    for (const auto& [other, rows] : shared_rows(file, seen)) {
      if (static_cast<double>(rows.size()) <=
          kShareOfCopy * static_cast<double>(file.places.size()))
        continue;
      for (const SharedRow& row : rows)
        problems.add(
            row.place, "",
            fmt::format("'{}' is in another file, too: {}:{}", row.name, other, row.first.line),
            "give each file once");
    }
  }
}

/// Throws UserError with every mistake of every file.
std::vector<MeasuredFile> read_all(const std::vector<std::string>& names) {
  Problems problems;
  std::vector<MeasuredFile> files;
  for (const std::string& name : names)
    files.push_back(read_measurements(read_source(name, kLargestMeasurements), problems));
  check_copies_of_files(files, problems);
  problems.throw_if_any();
  return files;
}

}  // namespace

ExitCode calibrate_fit(const CalibrateFitOptions& options, std::ostream& out) {
  refuse_nothing(options);
  const Outputs outputs = outputs_of(options);
  const std::vector<MeasuredFile> measured = read_all(options.measurements);
  check_outputs(outputs.all());
  const CalibrationRequest request{.gpu = name_of_profile("-o", options.output),
                                   .link = name_of_profile("--link", options.link),
                                   .fabric = name_of_profile("--fabric", options.fabric),
                                   .base = options.base,
                                   .base_link = options.base_link,
                                   .base_cluster = absolute_file(options.base_cluster),
                                   .description = options.name,
                                   .seed = options.seed};
  const Calibration made = calibrate(measured, request, library_for("scenario.yaml"));
  std::vector<OutputText> files;
  const auto add = [&](const Output& output, const std::optional<std::string>& text) {
    if (text) files.push_back({output, sealed(*text, kCommand)});
  };
  if (!made.gpu_text.empty()) add(outputs.gpu, made.gpu_text);
  add(outputs.link, made.link_text);
  add(outputs.fabric, made.fabric_text);
  save_files(files);
  if (options.format != "table") {
    out << (options.format == "json" ? calibration_json(made) : calibration_markdown(made));
    return ExitCode::ok;
  }
  out << calibration_text(made) << '\n';
  for (const Output& one : outputs.all())
    if (!one.path.empty()) out << shown_path(one.path) << ": written\n";
  out << how_to_use(options);
  return ExitCode::ok;
}

}  // namespace stepsim
