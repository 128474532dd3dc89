// Calls stepsim calibrate cpu and stepsim run.
#include "validate/trainer/selfcheck/library.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "validate/trainer/selfcheck/programs.hpp"

namespace stepsim::selfcheck {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Library::Library() {
  std::string name = (fs::temp_directory_path() / "stepsim-selfcheck-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("no temporary folder could be made");
  folder_ = name;
}

Library::~Library() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string Library::Use::name() const {
  const std::string set = working_set_mib == 0 ? "" : fmt::format("-{}mib", working_set_mib);
  return fmt::format("core-{}rank{}", ranks, set);
}

void Library::calibrate(const Calibration& calibration, const std::vector<Setting>& grid,
                        const Deadline& deadline) {
  sets_mib_ = calibration.sets_mib;
  std::set<int> ranks;
  for (const Setting& setting : grid) ranks.insert(setting.ranks);
  for (const int count : ranks) {
    for (const int mib : sets_mib_) calibrate({count, mib}, calibration.budget_s, deadline);
    calibrate({count, 0}, calibration.budget_s, deadline);
  }
}

void Library::calibrate(const Use& use, double budget_s, const Deadline& deadline) const {
  fs::remove(folder_ / "calib" / "gpus" / (use.name() + ".json"));
  fs::remove(folder_ / "calib" / "links" / (use.name() + ".yaml"));
  while (true) {
    const double budget = std::min(budget_s, deadline.left());
    const auto begin = std::chrono::steady_clock::now();
    try {
      return calibrate_once(use, budget);
    } catch (const std::runtime_error& error) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      if (taken.count() < budget) throw;  // the calibration failed with time left
      std::cerr << error.what() << "\n";
    }
  }
}

void Library::calibrate_once(const Use& use, double budget_s) const {
  std::string command =
      fmt::format("{} calibrate cpu -o {}/calib/gpus/{}.yaml --budget {:.3f}s --ranks {}",
                  STEPSIM_PROGRAM, folder_.string(), use.name(), budget_s, use.ranks);
  if (use.working_set_mib > 0) command += fmt::format(" --working-set {}MiB", use.working_set_mib);
  std::cerr << output_of(command);
}

Library::Use Library::use_for(const Setting& setting) const {
  for (const int mib : sets_mib_)
    if (mib * 1048576.0 >= working_set_bytes(setting)) return {setting.ranks, mib};
  return {setting.ranks, 0};
}

bool Library::has(const Setting& setting) const {
  const std::string name = use_for(setting).name();
  if (setting.loads() &&
      text_of(folder_ / "scenarios" / (name + ".yaml")).find("\ndata:") == std::string::npos)
    return false;
  return setting.ranks == 1 || fs::exists(folder_ / "calib" / "links" / (name + ".yaml"));
}

// Takes the calibrated scenario; `data`, the last key, goes where the setting has no workers.
double Library::simulate(const Setting& s, double threads) const {
  std::string scenario = text_of(folder_ / "scenarios" / (use_for(s).name() + ".yaml"));
  if (!s.loads()) scenario.resize(std::min(scenario.size(), scenario.find("\ndata:")));
  const fs::path changed = folder_ / "scenarios" / "setting.yaml";
  std::ofstream(changed) << scenario;
  std::string command = fmt::format(
      "STEPSIM_LIBRARY={} {} run {} --format json --set cluster.gpus_per_node={} --set "
      "model.layers={} --set model.width={} --set training.micro_batch={} --set "
      "training.global_batch={} --set parallelism.data.bucket={}KiB",
      folder_.string(), STEPSIM_PROGRAM, changed.string(), s.ranks, s.layers, s.width, s.batch,
      s.ranks * s.batch, s.bucket_kib);
  if (s.loads())
    command += fmt::format(
        " --set data.workers={} --set run.steps=40 --set run.warmup=8 --set host.threads={:.4f}",
        s.workers, threads);
  return number_in(output_of(command), "step_time_s");
}

double Library::predict(const Setting& s) const {
  if (s.workers <= 0) return simulate(s, 1);
  Setting alone = s;
  alone.workers = -1;
  const double computing = simulate(alone, 1);
  // Simulates twice, because a step that the share makes longer has a smaller share.
  double step = simulate(s, 0);
  for (int round = 0; round < 2; ++round) step = simulate(s, std::min(1.0, computing / step));
  return step;
}

}  // namespace stepsim::selfcheck
