// stepsim calibrate steps: measured steps of one machine -> its constants, and what they are worth.
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/command/calibrate.hpp"
#include "sim/command/fitted_steps.hpp"
#include "sim/plan/load.hpp"
#include "sim/report/json_number.hpp"
#include "sim/scenario/suite/suite_filter.hpp"
#include "sim/text/error_words.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"
#include "sim/validation/errors.hpp"

namespace stepsim {
namespace {

/// Judgement: what is left of the error where constants were learnt.
constexpr double kWorthwhile = 0.9;

std::vector<double> relative_errors(const std::vector<FittedStep>& rows,
                                    double FittedStep::*predicted) {
  std::vector<double> errors;
  for (const FittedStep& row : rows) errors.push_back(row.*predicted / row.measured - 1);
  return errors;
}

constexpr int kRow = 46, kColumn = 11, kWhat = 30;

class StepsPage : Page {
 public:
  StepsPage(const FittedSteps& found, Screen screen) : Page(screen, 90, 100), it_(found) {}

  std::string text(const LoadedSuite& loaded) {
    heading(fmt::format("Constants of a machine, by {} measured steps of {}", it_.rows.size(),
                        loaded.suite.name));
    line();
    for (std::size_t i = 0; i < kMachineConstants; ++i) constant(i);
    line();
    line(pad_right("", kRow) + bold(pad_left("measured", kColumn)) +
         bold(pad_left("before", kColumn)) + bold(pad_left("fitted", kColumn)) +
         bold(pad_left("held out", kColumn)));
    for (const FittedStep& row : it_.rows)
      line(pad_right(cut(row.label), kRow) +
           pad_left(humanise(Seconds{row.measured}).text(), kColumn) +
           pad_left(error(row.before, row), kColumn) + pad_left(error(row.fitted, row), kColumn) +
           pad_left(error(row.held_out, row), kColumn));
    line();
    summary("mean error", &Errors::mean);
    summary("bias", &Errors::bias);
    line();
    wrapped(
        "Held out: each step is predicted with constants by all the others. What that leaves is "
        "what to expect of a setting that is not among these.");
    if (mean(&FittedStep::held_out) > kWorthwhile * mean(&FittedStep::before))
      wrapped(
          "These constants do not explain the error: held out it is hardly less than before. Leave "
          "them as they were, and look whether the scenario is that of the runs.");
    return out_;
  }

 private:
  static std::string cut(const std::string& label) {
    if (width_of(label) < kRow - 1) return label;
    return label.substr(0, kRow - 5) + "...";
  }

  static std::string error(double predicted, const FittedStep& row) {
    return signed_error(predicted / row.measured - 1);
  }

  void constant(std::size_t i) {
    const std::string name = pad_right(machine_constants[i].what, kWhat);
    if (!it_.reasons[i].empty()) return line(name + "as it was: " + it_.reasons[i]);
    line(name +
         fmt::format("x {:.3f} of the time, give or take {:.0f} %", it_.times[i], 100 * it_.sd[i]));
    wrapped(it_.settings[i].empty()
                ? std::string("its value differs from row to row: make each so many times as slow")
                : fmt::format("--set {}", fmt::join(it_.settings[i], " --set ")),
            4);
  }

  double mean(double FittedStep::*predicted) const {
    return errors_of(relative_errors(it_.rows, predicted)).mean;
  }

  void summary(const char* name, double Errors::*what) {
    std::string text = pad_right(name, kRow) + pad_left("", kColumn);
    for (double FittedStep::*predicted :
         {&FittedStep::before, &FittedStep::fitted, &FittedStep::held_out}) {
      const Errors errors = errors_of(relative_errors(it_.rows, predicted));
      const double value = errors.*what;
      text += pad_left(what == &Errors::bias ? signed_error(value) : error_text(value), kColumn);
    }
    line(text);
  }

  const FittedSteps& it_;
};

Json constant_json(const FittedSteps& found, std::size_t i) {
  return {{"name", machine_constants[i].what},
          {"times_as_slow", number(found.times[i])},
          {"sd", number(found.sd[i])},
          {"settings", found.settings[i]},
          {"reason", text_or_null(found.reasons[i])}};
}

std::string to_json(const FittedSteps& found, const LoadedSuite& loaded) {
  Json constants = Json::array(), rows = Json::array();
  for (std::size_t i = 0; i < kMachineConstants; ++i) constants.push_back(constant_json(found, i));
  for (const FittedStep& row : found.rows)
    rows.push_back({{"label", row.label},
                    {"measured_s", number(row.measured)},
                    {"before_s", number(row.before)},
                    {"fitted_s", number(row.fitted)},
                    {"held_out_s", number(row.held_out)}});
  return json_text({{"schema", "stepsim.step_calibration/1"},
                    {"suite", loaded.suite.name},
                    {"constants", constants},
                    {"rows", rows}});
}

}  // namespace

ExitCode calibrate_steps(const CalibrateStepsOptions& options, std::ostream& out,
                         std::ostream& notes) {
  const LoadedSuite loaded =
      load_suite({options.suite, options.table, options.filter}, known_names());
  check_filter(options.filter, {loaded});
  const FittedSteps found =
      fit_steps(loaded, options.jobs, ProgressLine(notes, options.screen.progress));
  out << (options.format == "json" ? to_json(found, loaded)
                                   : StepsPage(found, options.screen).text(loaded));
  return ExitCode::ok;
}

}  // namespace stepsim
