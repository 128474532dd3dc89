// The tables of documents that are made from the records of validate/.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/validation/validation_words.hpp"
#include "sim/scenario/suite/error_record.hpp"
#include "sim/scenario/suite/load_suite.hpp"
#include "sim/scenario/suite/run_record_file.hpp"
#include "sim/text/error_words.hpp"
#include "sim/text/layout.hpp"
#include "sim/validation/choices.hpp"
#include "sim/validation/error_band.hpp"
#include "sim/validation/errors.hpp"
#include "sim/validation/source_errors.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

const std::vector<RecordedRuns>& record() {
  static const auto kRecord = recorded_runs_of({{source_folder()}}).value();
  return kRecord;
}

std::map<std::string, Suite> suites() {
  std::map<std::string, Suite> all;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "validate/suites")) {
    if (entry.path().extension() != ".yaml") continue;
    const Suite suite = load_suite({.path = entry.path().string()}).suite;
    all.emplace(suite.name, suite);
  }
  return all;
}

/// Within a cell.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

/// Errors with and without rows that are known.
struct Both {
  std::vector<double> all, expected;
  void add(const RecordedRuns& run) {
    all.insert(all.end(), run.errors.begin(), run.errors.end());
    if (run.known.empty()) expected.insert(expected.end(), run.errors.begin(), run.errors.end());
  }
};

std::map<std::string, Both> by_suite() {
  std::map<std::string, Both> all;
  for (const RecordedRuns& run : record()) all[run.suite].add(run);
  return all;
}

/// What each suite has measured, a line or two each.
std::string title_list() {
  std::string text;
  for (const auto& [name, suite] : suites()) {
    std::string item;
    for (const std::string& line : wrap(fmt::format("`{}`: {}", name, suite.title), 116))
      item += (item.empty() ? "- " : "  ") + line + "\n";
    text += item;
  }
  return text;
}

std::string wrapped(const std::string& words) {
  std::string text;
  for (const std::string& line : wrap(words, 118)) text += line + "\n";
  return text;
}

/// The errors of sources as nobody had seen them, then of all suites as they are; the deviations are
/// told at that path.
std::string headline(const std::string& deviations) {
  Both all, alone;  // alone: without models of experts
  std::set<std::string> suites;
  for (const RecordedRuns& run : record()) {
    all.add(run);
    suites.insert(run.suite);
    if (run.traits.model.find("experts") == std::string::npos) alone.add(run);
  }
  const SourceErrors unseen = source_errors(record());
  const Errors every = errors_of(all.all), expected = errors_of(all.expected),
               dense = errors_of(alone.expected);
  const std::size_t known = every.count - expected.count;
  const std::string first = fmt::format(
      "**A source that nobody had seen is {} off in the mean, with a median of {}, a 90th "
      "percentile "
      "of {} and a bias of {}**: {} measured runs of {} sources, each predicted without what its "
      "source measured of its own machines. Where each source counts the same, the mean is {} and "
      "the bias {}. {} more runs, {:.0f} % of all, are known to be off and not counted "
      "([DEVIATIONS.md]({}) says why); with them the mean is {} and the bias {}.",
      error_text(unseen.rows.mean), error_text(unseen.rows.median), error_text(unseen.rows.p90),
      signed_error(unseen.rows.bias), unseen.rows.count, unseen.sources, error_text(unseen.mean),
      signed_error(unseen.bias), known,
      100.0 * static_cast<double>(known) / static_cast<double>(every.count), deviations,
      error_text(unseen.with_known.mean), signed_error(unseen.with_known.bias));
  const std::string then = fmt::format(
      "With all that is known, these runs, of {} suites, are {} off in the mean, with a median of "
      "{}, a 90th percentile of {} and a bias of {}; without models of experts {}, {}, {} and {}.",
      suites.size(), error_text(expected.mean), error_text(expected.median),
      error_text(expected.p90), signed_error(expected.bias), error_text(dense.mean),
      error_text(dense.median), error_text(dense.p90), signed_error(dense.bias));
  return wrapped(first) + "\n" + wrapped(then);
}

std::string line_of(const std::string& title, const Errors& e) {
  if (e.count == 0) return "";
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", title, e.count, error_text(e.mean),
                     error_text(e.median), error_text(e.p90), error_text(e.max),
                     signed_error(e.bias));
}

std::string suite_table() {
  std::string text =
      "| suite | rows | mean | median | 90th | largest | bias |\n|---|---|---|---|---|---|---|\n";
  for (const auto& [name, both] : by_suite()) {
    text +=
        line_of(fmt::format("[{0}](../../validate/suites/{0}.yaml)", name), errors_of(both.all));
    if (both.expected.size() < both.all.size())
      text +=
          line_of(fmt::format("without {} that are known", both.all.size() - both.expected.size()),
                  errors_of(both.expected));
  }
  return text;
}

std::string kind_table() {
  struct Kind {
    Both errors;
    std::set<std::string> suites;
  };
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Kind> kinds;
  for (const RecordedRuns& run : record()) {
    Kind& kind = kinds[{run.traits.model, run.traits.layers, run.traits.gpu, run.traits.precision}];
    kind.errors.add(run);
    kind.suites.insert(run.suite);
  }
  std::string text =
      "| model | layers | GPU | precision | rows | mean | 90th | bias | known besides | suites |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [key, kind] : kinds) {
    const auto& [model, layers, gpu, precision] = key;
    const Errors e = errors_of(kind.errors.expected);
    const std::size_t known = kind.errors.all.size() - kind.errors.expected.size();
    const std::string numbers = e.count == 0 ? "- | - | -"
                                             : fmt::format("{} | {} | {}", error_text(e.mean),
                                                           error_text(e.p90), signed_error(e.bias));
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", model,
                        layers.substr(0, layers.find(' ')), gpu, precision, e.count, numbers, known,
                        fmt::join(kind.suites, ", "));
  }
  return text;
}

/// Errors by kind of model and generation of GPU alone.
std::string short_kind_table() {
  std::map<std::pair<std::string, std::string>, Both> kinds;
  for (const RecordedRuns& run : record())
    kinds[{run.traits.model, run.traits.generation}].add(run);
  std::string text =
      "| model | generation | rows | mean | 90th | bias | known besides "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const auto& [key, both] : kinds) {
    const Errors e = errors_of(both.expected);
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", key.first, key.second, e.count,
                        error_text(e.mean), error_text(e.p90), signed_error(e.bias),
                        both.all.size() - both.expected.size());
  }
  return text;
}

std::string known_table() {
  std::map<std::pair<std::string, std::string>, std::vector<double>> gaps;
  for (const RecordedRuns& run : record()) {
    if (run.known.empty()) continue;
    auto& errors = gaps[{run.suite, run.known}];
    errors.insert(errors.end(), run.errors.begin(), run.errors.end());
  }
  std::string text = "| suite | rows | errors | bias | why |\n|---|---|---|---|---|\n";
  for (const auto& [gap, errors] : gaps) {
    const auto [least, most] = std::minmax_element(errors.begin(), errors.end());
    text += fmt::format("| {} | {} | {} | {} | {} |\n", gap.first, errors.size(),
                        errors.size() == 1 ? signed_error(*least)
                                           : signed_error(*least) + " to " + signed_error(*most),
                        signed_error(errors_of(errors).bias), cell(gap.second));
  }
  return text;
}

std::string band_table() {
  std::string text = "| runs | rows | within their range | width |\n|---|---|---|---|\n";
  for (const BandCoverage& family : band_coverage(record()))
    text += fmt::format("| {} | {} | {:.0f} % | {:.0f} % |\n", family.family, family.rows,
                        100 * family.share(), 100 * family.width);
  return text;
}

/// Kinds of model with fewer rows say little.
constexpr int kRowsThatSay = 30;

/// The kinds of model with enough rows, each with its mean error and bias.
std::string kind_sentence() {
  std::map<std::string, Both> kinds;
  for (const RecordedRuns& run : record()) kinds[run.traits.model].add(run);
  std::vector<std::string> parts;
  for (const auto& [model, both] : kinds) {
    const Errors e = errors_of(both.expected);
    if (e.count >= kRowsThatSay)
      parts.push_back(fmt::format("{} {} (bias {}, {} rows)", model, error_text(e.mean),
                                  signed_error(e.bias), e.count));
  }
  return wrapped(fmt::format("Mean errors by kind of model: {}.", fmt::join(parts, ", ")));
}

/// How many rows lie in their ranges: all, and the families with enough rows that are the furthest
/// from that.
std::string band_sentence() {
  const std::vector<BandCoverage> coverage = band_coverage(record());
  const BandCoverage& all = coverage.front();
  const BandCoverage *least = &all, *most = &all;
  for (const BandCoverage& one : coverage) {
    if (one.rows < kRowsThatSay) continue;
    if (one.share() < least->share()) least = &one;
    if (one.share() > most->share()) most = &one;
  }
  return wrapped(fmt::format(
      "{:.0f} % of {} runs lie within the range that all other sources give for them, which is "
      "{:.0f} % wide in the mean: the least of {} ({:.0f} %), the most of {} ({:.0f} %).",
      100 * all.share(), all.rows, 100 * all.width, least->family, 100 * least->share(),
      most->family, 100 * most->share()));
}

const ErrorRecord& errors() {
  static const auto kErrors =
      load_error_record((fs::path(source_folder()) / "validate/recorded.yaml").string());
  return kErrors;
}

const std::vector<RecordedChoices>& choices() { return errors().choices; }

RecordedChoices all_choices(bool with_known) {
  std::vector<RecordedChoices> list = choices();
  std::erase_if(list, [&](const RecordedChoices& one) { return one.with_known != with_known; });
  return sum_of(list);
}

std::string choice_sentences() {
  return wrapped(choice_words(all_choices(false), all_choices(true)));
}

std::string choice_line(const RecordedChoices& one) {
  if (one.jobs == 0) return "";
  return fmt::format("| {}{} | {} | {} | {} | {} | {} | {} | {} of {} |\n", one.suite,
                     one.with_known ? ", with known rows" : "", one.jobs, one.ways, one.fastest,
                     error_text(one.loss), error_text(one.largest_loss), error_text(one.blind_loss),
                     one.in_order.at(2) + one.in_order.at(3), one.pairs.at(2) + one.pairs.at(3));
}

std::string choice_table() {
  std::string text =
      "| suite | jobs | ways | best chosen | loss | largest | blindly | pairs in order, 5 % apart "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i + 1 < choices().size(); i += 2) {
    const RecordedChoices &expected = choices()[i], &all = choices()[i + 1];
    text += choice_line(expected);
    if (all.ways > expected.ways) text += choice_line(all);
  }
  return text;
}

std::string growth_table() {
  std::string text =
      "| suite | points a doubling | rows | jobs | numbers of GPUs |\n|---|---|---|---|---|\n";
  for (const RecordedGrowth& one : errors().growth)
    text += fmt::format("| {}{} | {:+.2f} ± {:.2f} | {} | {} | {} |\n", one.suite,
                        one.as_split ? "" : ", split in several ways", 100 * one.slope,
                        100 * one.uncertainty, one.rows, one.jobs, one.sizes);
  return text;
}

/// The slopes in a sentence. One is beyond half a point where it is so by twice its standard error.
std::string growth_sentence() {
  int suites = 0, within = 0, beyond = 0;
  for (const RecordedGrowth& one : errors().growth) {
    if (!one.as_split) continue;
    ++suites;
    within += std::abs(one.slope) <= 0.005 ? 1 : 0;
    beyond += std::abs(one.slope) - 2 * one.uncertainty > 0.005 ? 1 : 0;
  }
  return wrapped(fmt::format(
      "Of {} suites that have the same job, split alike, on three numbers of GPUs or more, {} have "
      "a slope within half a point a doubling, and {} are beyond it by more than their "
      "uncertainty.",
      suites, within, beyond));
}

std::string fit_sentence() {
  int rows = 0;
  std::vector<std::pair<std::string, int>> not_fitting;
  for (const RecordedErrors& group : errors().groups) {
    if (!group.name.empty()) continue;
    rows += group.rows;
    not_fitting.emplace_back(group.suite, group.not_fitting.value_or(0));
  }
  return wrapped(fit_words(rows, not_fitting));
}

std::string text_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string{std::istreambuf_iterator<char>(in), {}};
}

/// Checks that the text between the marks called `name` is `made`; writes it if STEPSIM_UPDATE asks
/// for that.
void check_made(const char* document, const std::string& name, const std::string& made,
                const std::string& record = "recorded_runs.csv") {
  const fs::path path = fs::path(source_folder()) / document;
  const std::string begin = fmt::format(
      "<!-- {}: made from validate/{}; renew with STEPSIM_UPDATE=1 build/tests/docs_suites -->\n",
      name, record);
  const std::string text = text_of_file(path);
  const auto from = text.find(begin), to = text.find(fmt::format("<!-- end of {} -->", name));
  CAPTURE(document);
  CAPTURE(name);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string fresh =
      text.substr(0, from + begin.size()) + "\n" + made + "\n" + text.substr(to);
  if (std::getenv("STEPSIM_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << fresh;
  const bool is_fresh = text_of_file(path) == fresh;
  CHECK_MESSAGE(is_fresh, "the record has changed: STEPSIM_UPDATE=1 build/tests/docs_suites");
}

}  // namespace

TEST_CASE("the first paragraph says how far off predictions are, as it is recorded") {
  Both all;
  for (const RecordedRuns& run : record()) all.add(run);
  const Errors expected = errors_of(all.expected);
  const std::string readme = text_of_file(fs::path(source_folder()) / "README.md");
  CHECK(readme.find(fmt::format("half of {} measured runs are met within {:.0f} %", expected.count,
                                std::ceil(100 * expected.median))) != std::string::npos);
}

TEST_CASE("documents have the suites' errors as they are recorded") {
  check_made("README.md", "headline", headline("validate/DEVIATIONS.md"));
  check_made("docs/accuracy.md", "headline", headline("../validate/DEVIATIONS.md"));
  check_made("docs/accuracy.md", "kinds", kind_sentence());
  check_made("docs/accuracy/suites.md", "kinds", short_kind_table());
  check_made("docs/accuracy/suites.md", "titles", title_list(), "suites");
  check_made("docs/accuracy/suites.md", "suites", suite_table());
  check_made("docs/accuracy.md", "band", band_sentence());
  check_made("docs/accuracy/suites.md", "band", band_table());
  check_made("validate/DEVIATIONS.md", "kinds", kind_table());
  check_made("validate/DEVIATIONS.md", "known", known_table());
}

TEST_CASE("documents say how many runs are predicted not to fit, as it is recorded") {
  check_made("validate/DEVIATIONS.md", "fit", fit_sentence(), "recorded.yaml");
}

TEST_CASE("documents say what choices by prediction lose, as it is recorded") {
  check_made("docs/accuracy.md", "choices", choice_sentences(), "recorded.yaml");
  check_made("docs/accuracy/suites.md", "choices", choice_table(), "recorded.yaml");
}

TEST_CASE("documents say how errors grow with the number of GPUs, as it is recorded") {
  check_made("docs/accuracy.md", "growth", growth_sentence(), "recorded.yaml");
  check_made("docs/accuracy/growth.md", "growth", growth_table(), "recorded.yaml");
}

TEST_CASE("ranges of 80 % hold about as many rows of sources that were left out") {
  const auto coverage = band_coverage(record());
  REQUIRE_FALSE(coverage.empty());
  CHECK(coverage.front().share() > 0.70);
  CHECK(coverage.front().share() < 0.92);
}
