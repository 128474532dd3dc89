// Finds results and pages in a folder, and what they are compared with.
#include "sim/command/report.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <vector>

#include <fmt/format.h>

#include "sim/command/answer/read_result.hpp"
#include "sim/core/source.hpp"
#include "sim/page/page.hpp"
#include "sim/report/index/index_report.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

/// The files of a folder that end so, by their names.
std::vector<fs::path> files_in(const fs::path& folder, const std::string& extension) {
  std::error_code failed, ignored;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() == extension && !at->is_directory(ignored))
      files.push_back(at->path());
  }
  if (failed)
    throw IoError(
        fmt::format("cannot read the folder '{}': {}", folder.string(), failed.message()));
  std::ranges::sort(files);
  return files;
}

/// A result, or nothing for a file of another kind, and a line about it in `skipped`.
std::optional<ResultFacts> result_in(const fs::path& file, std::vector<std::string>& skipped) {
  try {
    return read_result(read_source(file.string()));
  } catch (const UserError& error) {
    const std::string why = error.what();
    skipped.push_back(why.substr(0, why.find('\n')));
  } catch (const IoError& error) {
    skipped.emplace_back(error.what());
  }
  return std::nullopt;
}

/// The steps of the baseline's results, by the names of their scenarios.
std::map<std::string, Seconds> steps_of(const std::string& baseline,
                                        std::vector<std::string>& skipped) {
  std::map<std::string, Seconds> steps;
  std::map<std::string, std::string> files;  // by scenario
  std::error_code ignored;
  if (baseline.empty()) return steps;
  if (!fs::is_directory(baseline, ignored)) {
    const ResultFacts result = read_result(read_source(baseline));
    return {{result.scenario, result.step_time}};
  }
  for (const fs::path& file : files_in(baseline, ".json")) {
    const auto result = result_in(file, skipped);
    if (!result) continue;
    const auto [first, is_new] = files.emplace(result->scenario, file.string());
    if (!is_new)
      throw UserError(fmt::format(
          "--baseline: '{}' and '{}' are both of the scenario '{}'; name one of the two",
          first->second, file.string(), result->scenario));
    steps.emplace(result->scenario, result->step_time);
  }
  return steps;
}

/// Where a file is, seen from the folder of the index.
std::string seen_from(const fs::path& index, const fs::path& file) {
  std::error_code failed;
  const fs::path relative =
      fs::relative(file, index.has_parent_path() ? index.parent_path() : ".", failed);
  return (failed ? fs::path(file) : relative).generic_string();
}

IndexReport found(const ReportOptions& options, const fs::path& index) {
  IndexReport report{.folder = options.folder,
                     .baseline = options.baseline,
                     .entries = {},
                     .pages = {},
                     .skipped = {}};
  const auto baseline = steps_of(options.baseline, report.skipped);
  std::vector<fs::path> pages = files_in(options.folder, ".html");
  std::erase_if(pages, [&](const fs::path& page) {
    std::error_code ignored;
    return page_title(page.string()).empty() || fs::equivalent(page, index, ignored);
  });
  for (const fs::path& file : files_in(options.folder, ".json")) {
    auto result = result_in(file, report.skipped);
    if (!result) continue;
    IndexEntry entry{
        .file = file.filename().string(), .page = {}, .result = std::move(*result), .baseline = {}};
    const auto page = std::ranges::find(pages, fs::path(file).replace_extension(".html"));
    if (page != pages.end()) {
      entry.page = seen_from(index, *page);
      pages.erase(page);
    }
    if (const auto step = baseline.find(entry.result.scenario); step != baseline.end())
      entry.baseline = step->second;
    report.entries.push_back(std::move(entry));
  }
  const bool has_one = std::ranges::any_of(
      report.entries, [](const IndexEntry& entry) { return entry.baseline.has_value(); });
  if (!options.baseline.empty() && !has_one)
    throw UserError(
        fmt::format("--baseline '{}' has a result of none of these scenarios", options.baseline));
  for (const fs::path& page : pages)
    report.pages.push_back({seen_from(index, page), page_title(page.string())});
  return report;
}

}  // namespace

ExitCode report(const ReportOptions& options, std::ostream& out, std::ostream& notes) {
  const fs::path index =
      options.html.empty() ? fs::path(options.folder) / "index.html" : fs::path(options.html);
  const Output output = html_output(index.string(), options.force, {"index"});
  const IndexReport report = found(options, index);
  check_outputs({output});
  for (const IndexEntry& entry : report.entries) {
    if (entry.page == index.filename().string())
      throw UserError(fmt::format("--html '{}' is the page of {}, which the index is to list",
                                  index.string(), entry.file));
  }
  if (report.entries.empty() && report.pages.empty())
    throw UserError(
        fmt::format("'{}' has no result (`stepsim run --format json`) and no page "
                    "(`--html`){}{}",
                    options.folder, report.skipped.empty() ? "" : "; ",
                    report.skipped.empty() ? "" : report.skipped.front()));
  for (const std::string& why : report.skipped) notes << "left out: " << why << '\n';
  const std::string json = index_json(report);
  out << (options.format == "json" ? json : index_text(report, options.screen));
  out.flush();
  save_page(
      output,
      {.kind = "index", .title = options.folder + ": results", .documents = {{"result", json}}},
      notes);
  return ExitCode::ok;
}

}  // namespace stepsim
