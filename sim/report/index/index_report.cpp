// Writes an index as text and as JSON.
#include "sim/report/index/index_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/report/json_number.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

std::optional<double> change_of(const IndexEntry& entry) {
  if (!entry.baseline) return std::nullopt;
  return entry.result.step_time / *entry.baseline - 1;
}

std::string counted(std::size_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

Json entry_of(const IndexEntry& entry) {
  const ResultFacts& r = entry.result;
  return {{"file", entry.file},
          {"page", text_or_null(entry.page)},
          {"scenario", r.scenario},
          {"gpus", r.gpus ? Json(*r.gpus) : Json()},
          {"step_time_s", number(r.step_time)},
          {"baseline_step_time_s", number(entry.baseline)},
          {"change_fraction", number(change_of(entry))},
          {"samples_per_s", number(r.samples_per_s)},
          {"tokens_per_s", number(r.tokens_per_s)},
          {"mfu", number(r.mfu)},
          {"peak_bytes", r.memory ? number(r.memory->peak) : Json()},
          {"capacity_bytes", r.memory ? number(r.memory->capacity) : Json()},
          {"fits", r.memory ? Json(r.memory->fits) : Json()},
          {"verdict", text_or_null(r.verdict)}};
}

}  // namespace

std::string index_text(const IndexReport& report, const Screen& screen) {
  std::string text =
      painted(screen, Paint::bold,
              fmt::format("{}: {}", report.folder, counted(report.entries.size(), "result")));
  if (!report.pages.empty()) text += ", " + counted(report.pages.size(), "more page");
  text += '\n';
  if (report.entries.empty()) return text;
  int files = 4, scenarios = 8;
  for (const IndexEntry& entry : report.entries) {
    files = std::max(files, width_of(entry.file));
    scenarios = std::max(scenarios, width_of(entry.result.scenario));
  }
  const auto line = [&](const std::string& file, const std::string& scenario,
                        const std::string& step, const std::string& change, const std::string& mfu,
                        const std::string& memory) {
    text += pad_right(file, files + 2) + pad_right(scenario, scenarios) + pad_left(step, 11) +
            (report.baseline.empty() ? "" : pad_left(change, 10)) + pad_left(mfu, 9) +
            pad_left(memory, 11) + '\n';
  };
  text += '\n';
  line("file", "scenario", "step time", "change", "MFU", "memory");
  for (const IndexEntry& entry : report.entries) {
    const auto change = change_of(entry);
    const auto& memory = entry.result.memory;
    line(entry.file, entry.result.scenario, humanise(entry.result.step_time).text(),
         change ? fmt::format("{:+.1f} %", *change * 100) : "", percent(entry.result.mfu),
         memory ? humanise(memory->peak).text() : "");
  }
  return text;
}

std::string index_json(const IndexReport& report) {
  const auto page_of = [](const IndexPage& page) {
    return Json{{"page", page.page}, {"title", page.title}};
  };
  return json_text({{"schema", "stepsim.index/1"},
                    {"folder", report.folder},
                    {"baseline", text_or_null(report.baseline)},
                    {"entries", list_json(report.entries, entry_of)},
                    {"pages", list_json(report.pages, page_of)},
                    {"skipped", report.skipped}});
}

}  // namespace stepsim
