// Writes a validation as tables for a terminal.
#include <algorithm>

#include "sim/report/validation.hpp"
#include "sim/report/validation/validation_words.hpp"
#include "sim/text/page.hpp"
#include "sim/validation/recorded_runs.hpp"

namespace stepsim {
namespace {

constexpr int kRowLabel = 50, kNumber = 9;

/// The text in at most `width` columns, cut where it is longer.
std::string cut(const std::string& text, int width) {
  if (width_of(text) <= width) return pad_right(text, width);
  std::string result;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (!continues && width_of(result) >= width - 3) break;
    result += c;
  }
  return pad_right(result + "...", width);
}

class ValidationPage : Page {
 public:
  ValidationPage(const Validation& validation, const ValidationTable& options)
      : Page(options.screen, options.screen.width, options.screen.width),
        validation_(validation),
        options_(options) {}

  std::string text() {
    const bool one = validation_.suites.size() == 1;
    for (const SuiteResult& suite : validation_.suites) {
      if (one) head(suite);
      if (options_.rows) rows(suite);
    }
    statistics_head(one ? "" : "suite");
    if (one) {
      one_suite(validation_.suites.front());
    } else {
      for (const SuiteResult& suite : validation_.suites) whole(suite.name, suite.score);
      whole("all", validation_.total);
    }
    sources();
    growth();
    choices();
    memory();
    unpredicted();
    worst();
    limits();
    breaches();
    return out_;
  }

 private:
  /// A line without the blanks at its end.
  void line(std::string_view text = "") {
    Page::line(text.substr(0, text.find_last_not_of(' ') + 1));
  }

  void head(const SuiteResult& suite) {
    line(bold(suite.name) + ": " + suite.title);
    wrapped(suite.source);
    line();
  }

  void rows(const SuiteResult& suite) {
    line(cut(validation_.suites.size() == 1 ? "" : suite.name, kRowLabel) +
         pad_left("measured", kNumber + 2) + pad_left("predicted", kNumber + 2) +
         pad_left("error", kNumber));
    for (const ValidationRow& row : suite.rows) {
      std::string text = cut(row.label, kRowLabel) + pad_left(time_text(row.measured), kNumber + 2);
      if (row.predicted) {
        text += pad_left(time_text(row.predicted->step), kNumber + 2) +
                pad_left(signed_error(row.error()), kNumber);
      } else {
        text += pad_left("-", kNumber + 2) + pad_left("-", kNumber);
      }
      line(text + (row.known.empty() ? "" : "  known"));
      if (options_.causes && row.predicted) causes(*row.predicted);
    }
    line();
  }

  /// Writes the breakdown in lines of its own; causes below a per mille are left out.
  void causes(const Prediction& predicted) {
    std::string text;
    for (std::size_t i = 0; i < kCauses; ++i) {
      const double share = predicted.breakdown[i] / predicted.step.seconds();
      if (share < 1e-3) continue;
      text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ",
                          title_of(static_cast<Cause>(i)), 100 * share);
    }
    wrapped(text, 4);
  }

  void statistics_head(const std::string& title) {
    line(cut(title, kRowLabel - 7) + pad_left("rows", 7) + pad_left("mean", kNumber) +
         pad_left("median", kNumber) + pad_left("90th", kNumber) + pad_left("largest", kNumber) +
         pad_left("bias", kNumber));
  }

  void statistics(const std::string& title, const Errors& errors) {
    std::string text = cut(title, kRowLabel - 7) + pad_left(grouped(errors.count), 7);
    for (const double share : {errors.mean, errors.median, errors.p90, errors.max})
      text += pad_left(errors.count > 0 ? error_text(share) : "-", kNumber);
    line(text + pad_left(errors.count > 0 ? signed_error(errors.bias) : "-", kNumber));
  }

  /// Writes the statistics of all rows, and of those without the rows that are known not to be met.
  void whole(const std::string& title, const Score& score) {
    statistics(title, score.all);
    if (score.expected.count < score.all.count)
      statistics(fmt::format("  without {} that are known", score.all.count - score.expected.count),
                 score.expected);
    if (score.has_unseen) statistics("  as if nobody had seen it", score.unseen);
  }

  void one_suite(const SuiteResult& suite) {
    whole("all", suite.score);
    for (const GroupScore& group : suite.score.groups)
      statistics(fmt::format("{} {}", group.name, group.value), group.all);
  }

  /// The errors of each source as if nobody had seen it, where there are several.
  void sources() {
    const std::vector<RecordedRuns> runs = recorded_runs(validation_.rows);
    const SourceErrors errors = source_errors(runs);
    if (errors.sources < 2) return;
    line("\n" + bold("Sources left out"));
    wrapped(source_words(errors), 2);
    const auto coverage = band_coverage(runs);
    if (!coverage.empty()) wrapped(band_words(coverage), 2);
  }

  void growth() {
    const auto grows = [](const SuiteResult& suite) { return suite.score.growth.has_value(); };
    if (std::ranges::none_of(validation_.suites, grows)) return;
    line("\n" + bold("What a doubling of GPUs adds to errors"));
    for (const SuiteResult& suite : validation_.suites)
      if (grows(suite))
        line(fmt::format("  {:<18} {}", suite.name, growth_words(*suite.score.growth)));
  }

  void choices() {
    const Score& score = validation_.total;
    const std::string words = choice_words(recorded("", false, score.expected_choices),
                                           recorded("", true, score.choices));
    if (words.empty()) return;
    line("\n" + bold("Choices"));
    wrapped(words, 2);
  }

  void memory() {
    const std::string words = fit_words(validation_);
    if (words.empty()) return;
    line("\n" + bold("Memory"));
    wrapped(words, 2);
  }

  void unpredicted() {
    if (validation_.total.unpredicted.empty()) return;
    line("\n" + bold("Not predicted"));
    for (const std::size_t i : validation_.total.unpredicted) {
      const ValidationRow& row = validation_.rows[i];
      line("  " + title_of(row));
      wrapped(row.reason, 4);
    }
  }

  std::string title_of(const ValidationRow& row) const {
    return validation_.suites.size() == 1 ? row.label : row.suite + ": " + row.label;
  }
  static const char* title_of(Cause cause) { return stepsim::title_of(cause); }

  void worst() {
    if (validation_.total.worst.empty()) return;
    line("\n" + bold("Worst"));
    for (const std::size_t i : validation_.total.worst) {
      const ValidationRow& row = validation_.rows[i];
      line(pad_left(signed_error(row.error()), 9) + "  " + title_of(row));
      wrapped(remark_of(row, validation_.rows), 11);
    }
  }

  void limits() {
    const auto has_limits = [](const SuiteResult& suite) { return !suite.limits.empty(); };
    if (std::ranges::none_of(validation_.suites, has_limits)) return;
    line("\n" + bold("Limits"));
    for (const SuiteResult& suite : validation_.suites) {
      for (const SuiteLimit& limit : suite.limits) {
        const std::string mark =
            painted(screen_, limit.holds() ? Paint::green : Paint::red, limit.holds() ? "✓" : "✗");
        const std::string of = validation_.suites.size() == 1 ? "" : suite.name + ": ";
        line(fmt::format("  {} {}{} {}, at most {}", mark, of, limit.name, error_text(limit.actual),
                         error_text(limit.limit)));
      }
    }
  }

  void breaches() {
    if (validation_.breaches.empty()) return;
    line("\n" + bold("Broken"));
    for (const Breach& breach : validation_.breaches) {
      const std::string of = validation_.suites.size() == 1 ? "" : breach.suite + ": ";
      wrapped(of + breach.sentence, 2);
    }
  }

  const Validation& validation_;
  const ValidationTable& options_;
};

}  // namespace

std::string validation_text(const Validation& validation, const ValidationTable& options) {
  return ValidationPage(validation, options).text();
}

}  // namespace stepsim
