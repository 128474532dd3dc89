// Finds results and pages in a folder, and what they are compared with.
#include "sim/command/report.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
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
  std::error_code failed;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == extension && !entry.is_directory())
      files.push_back(entry.path());
  }
  if (failed)
    throw IoError(
        fmt::format("cannot read the folder '{}': {}", folder.string(), failed.message()));
  std::ranges::sort(files);
  return files;
}

/// The steps of the baseline's results, by the names of their scenarios.
std::map<std::string, Seconds> steps_of(const std::string& baseline) {
  std::map<std::string, Seconds> steps;
  if (baseline.empty()) return steps;
  const std::vector<fs::path> files =
      fs::is_directory(baseline) ? files_in(baseline, ".json") : std::vector<fs::path>{baseline};
  for (const fs::path& file : files) {
    const ResultFacts result = read_result(read_source(file.string()));
    if (!steps.emplace(result.scenario, result.step_time).second)
      throw UserError(fmt::format("--baseline '{}' has several results of the scenario '{}'",
                                  baseline, result.scenario));
  }
  return steps;
}

/// Where a file is, seen from the folder of the index.
std::string seen_from(const fs::path& index, const fs::path& file) {
  return fs::relative(file, index.has_parent_path() ? index.parent_path() : ".").generic_string();
}

IndexReport found(const ReportOptions& options, const fs::path& index) {
  const auto baseline = steps_of(options.baseline);
  IndexReport report{.folder = options.folder,
                     .baseline = options.baseline,
                     .entries = {},
                     .pages = {},
                     .skipped = {}};
  std::vector<fs::path> pages = files_in(options.folder, ".html");
  std::erase_if(pages, [&](const fs::path& page) {
    std::error_code ignored;
    return page_title(page.string()).empty() || fs::equivalent(page, index, ignored);
  });
  for (const fs::path& file : files_in(options.folder, ".json")) {
    try {
      IndexEntry entry{.file = file.filename().string(),
                       .page = {},
                       .result = read_result(read_source(file.string())),
                       .baseline = {}};
      const auto page = std::ranges::find(pages, fs::path(file).replace_extension(".html"));
      if (page != pages.end()) {
        entry.page = seen_from(index, *page);
        pages.erase(page);
      }
      if (const auto step = baseline.find(entry.result.scenario); step != baseline.end())
        entry.baseline = step->second;
      report.entries.push_back(std::move(entry));
    } catch (const UserError& error) {
      const std::string why = error.what();
      report.skipped.push_back(why.substr(0, why.find('\n')));
    }
  }
  for (const fs::path& page : pages)
    report.pages.push_back({seen_from(index, page), page_title(page.string())});
  return report;
}

}  // namespace

ExitCode report(const ReportOptions& options, std::ostream& out, std::ostream& notes) {
  const fs::path index =
      options.html.empty() ? fs::path(options.folder) / "index.html" : fs::path(options.html);
  const Output output = html_output(index.string(), options.force);
  const IndexReport report = found(options, index);
  check_outputs({output});
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
