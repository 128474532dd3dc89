// stepsim calibrate trace: a scenario and a recording of its run to profiles with recorded times.
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/command/calibrate.hpp"
#include "sim/command/recording/learnt_profiles.hpp"
#include "sim/command/recording/read_job.hpp"
#include "sim/core/shell_word.hpp"
#include "sim/core/source.hpp"
#include "sim/plan/load.hpp"
#include "sim/process/patience.hpp"
#include "sim/recording/files/looks_like_recording.hpp"
#include "sim/report/json_number.hpp"
#include "sim/text/file.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"
#include "sim/text/seal.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "stepsim calibrate trace";
constexpr int kTitle = 34, kTime = 12, kFactor = 10, kNarrowest = 80, kWidest = 100;

/// What somebody may have meant by a result in a folder of the library.
void check_name(const std::string& name) {
  if (name.find_first_of("/\\") != std::string::npos)
    throw UserError(fmt::format("--name {}: a profile's name has no folder", name));
}

void check_inputs(const CalibrateTraceOptions& options) {
  std::error_code ignored;
  if (looks_like_recording(options.scenario.path))
    throw UserError(fmt::format("--scenario {}: this is a recording; name the scenario of its run",
                                quoted_path(options.scenario.path)));
  if (!fs::is_directory(options.recording, ignored) && fs::exists(options.recording, ignored) &&
      !looks_like_recording(options.recording))
    throw UserError(fmt::format(
        "{}: this is no recording: one of torch.profiler or Nsight Systems, or a folder of them",
        quoted_path(options.recording)));
}

void make_folder_of(const fs::path& file) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed)
    throw IoError(fmt::format("cannot make {}: {}", file.parent_path().string(), failed.message()));
}

std::string file_in(const CalibrateTraceOptions& options, const char* kind,
                    const std::string& name) {
  return (fs::path(options.output) / "calib" / kind / (name + ".yaml")).string();
}

/// The command that predicts with what was written.
std::string how_to_use(const CalibrateTraceOptions& options, const LearntProfiles& learnt) {
  const char* library = std::getenv("STEPSIM_LIBRARY");
  std::string text = fmt::format(
      "STEPSIM_LIBRARY={} stepsim run {}",
      shell_word(options.output + (library == nullptr ? "" : std::string(":") + library)),
      shell_word(options.scenario.path));
  for (const std::string& override : options.scenario.overrides)
    text += " --set " + shell_word(override);
  text += " --set cluster.gpu=" + shell_word(learnt.name);
  if (!learnt.link_text.empty()) text += " --set cluster.intra_node=" + shell_word(learnt.name);
  if (learnt.launch)
    text += fmt::format(" --set host.pace=launches --set host.launch={:.4g}us",
                        learnt.launch->microseconds());
  return text;
}

/// The host's time for a launch, and what of it is the profiler's.
std::string launch_words(const LearntProfiles& learnt) {
  if (!learnt.launch) return "as it was: " + learnt.launch_reason;
  std::string text = fmt::format("{:.4g} us", learnt.launch->microseconds());
  if (learnt.launch_recorded > *learnt.launch)
    text += fmt::format(
        "; {:.4g} us were recorded, some of which the profiler takes "
        "(calib/README.md#what-a-profiler-adds)",
        learnt.launch_recorded.microseconds());
  return text;
}

class TracePage : Page {
 public:
  TracePage(const LearntProfiles& learnt, Screen screen)
      : Page(screen, kNarrowest, kWidest), it_(learnt), column_(column_for(Seconds{longest()})) {}

  std::string text(const CalibrateTraceOptions& options) {
    heading(fmt::format("{} on {}, with times of {}", options.scenario.path, it_.base, it_.origin));
    line();
    line(bold(pad_right("A step's kernels", kTitle)) + bold(pad_left("predicted", kTime)) +
         bold(pad_left("recorded", kTime)) + bold(pad_left("time", kFactor)));
    for (const ScaledGroup& group : it_.groups) row(group);
    row(it_.collectives);
    if (it_.between_s > 0)
      line("  " + pad_right("between operators", kTitle - 2 + kTime) +
           pad_left(column_.text(it_.between_s), kTime) + "    added to each call");
    line();
    paragraph("host.launch", launch_words(it_));
    for (std::size_t i = 0; i < it_.not_known.size(); ++i)
      paragraph(i == 0 ? "Not known" : "", it_.not_known[i]);
    line();
    return out_;
  }

 private:
  double longest() const {
    double longest = 0;
    for (const ScaledGroup& group : it_.groups)
      longest = std::max({longest, group.predicted_s, group.recorded_s});
    return longest;
  }

  void row(const ScaledGroup& group) {
    if (group.predicted_s <= 0 && group.recorded_s <= 0) return;
    const std::string factor = group.factor > 0 ? fmt::format("x {:.3f}", group.factor) : "";
    line("  " + pad_right(group.title, kTitle - 2) +
         pad_left(column_.text(group.predicted_s), kTime) +
         pad_left(column_.text(group.recorded_s), kTime) + pad_left(factor, kFactor));
    wrapped(group.factor > 0 ? fmt::format("{}", fmt::join(group.constants, ", "))
                             : "as it was: " + group.reason,
            4);
  }

  const LearntProfiles& it_;
  Column column_;
};

Json group_json(const ScaledGroup& group) {
  return {{"name", group.title},
          {"predicted_s", number(group.predicted_s)},
          {"recorded_s", number(group.recorded_s)},
          {"factor", group.factor > 0 ? Json(number(group.factor)) : Json()},
          {"constants", group.constants},
          {"reason", text_or_null(group.reason)}};
}

std::string to_json(const LearntProfiles& learnt, const std::vector<std::string>& files,
                    const std::string& use) {
  std::vector<ScaledGroup> groups = learnt.groups;
  groups.push_back(learnt.collectives);
  return json_text(
      {{"schema", "stepsim.trace_calibration/1"},
       {"base", learnt.base},
       {"name", learnt.name},
       {"recording", learnt.origin},
       {"groups", list_json(groups, group_json)},
       {"between_operators_s", number(learnt.between_s)},
       {"host_launch_s", learnt.launch ? Json(number(learnt.launch->seconds())) : Json()},
       {"host_launch_reason", text_or_null(learnt.launch_reason)},
       {"files", files},
       {"use", use},
       {"not_known", learnt.not_known}});
}

}  // namespace

ExitCode calibrate_trace(const CalibrateTraceOptions& options, std::ostream& out,
                         std::ostream& notes) {
  check_name(options.name);
  check_inputs(options);
  const Library library = library_for(options.scenario.path);
  const Scenario scenario = load(options.scenario, library);
  const std::string name =
      options.name.empty() ? scenario.cluster.gpu.name + "-recorded" : options.name;
  std::vector<std::string> paths{file_in(options, "gpus", name), file_in(options, "links", name)};
  const auto output_at = [&](const std::string& path) -> Output {
    return {"-o", path, sealed_by(kCommand), options.force};
  };
  check_replaced({output_at(paths[0]), output_at(paths[1])});
  Patience patience(options.screen.progress);
  patience.begins("simulating");
  const Answer answer = answer_of(scenario, library, {.kernels = true}, notes);
  patience.begins("reading the recording");
  const RecordedJob job = read_job(options.recording, false).job;
  patience.end();
  const LearntProfiles learnt = learn(scenario, answer, job, name, library);
  std::vector<OutputText> files{{output_at(paths[0]), sealed(learnt.gpu_text, kCommand)}};
  if (learnt.link_text.empty()) {
    paths.pop_back();
  } else {
    files.push_back({output_at(paths[1]), sealed(learnt.link_text, kCommand)});
  }
  for (const OutputText& file : files) make_folder_of(file.output.path);
  save_files(files);
  const std::string use = how_to_use(options, learnt);
  if (options.format == "json") {
    out << to_json(learnt, paths, use);
    return ExitCode::ok;
  }
  out << TracePage(learnt, options.screen).text(options);
  for (const std::string& path : paths) out << shown_path(path) << ": written\n";
  out << use << '\n';
  return ExitCode::ok;
}

}  // namespace stepsim
