// The ranking of a search as it is listed: by time, and where the times print alike by memory.
#include "sim/report/search/search_report.hpp"

#include <doctest/doctest.h>

#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/sharding.hpp"

using namespace stepsim;

namespace {

TriedStrategy tried(int tensor, double step, double gibibytes) {
  TriedStrategy t;
  t.strategy.gpus = 8;
  t.strategy.tensor = tensor;
  t.strategy.schedule = Registry<Schedule>::find("1f1b");
  t.strategy.sharding = &sharding_named("ddp");
  t.outcome.step = Seconds{step};
  t.outcome.peak = Bytes{gibibytes * 0x1p30};
  return t;
}

SearchReport report_of(std::vector<TriedStrategy> ranked) {
  SearchReport report;
  report.gpus = 8;
  report.capacity = Bytes{80 * 0x1p30};
  report.outcome.ranked = std::move(ranked);
  report.listed = listed_of(report.outcome, 10);
  report.commands.assign(report.listed.size(), "stepsim run x.yaml");
  return report;
}

std::vector<int> tensors(const SearchReport& report) {
  std::vector<int> all;
  for (const TriedStrategy& t : report.listed) all.push_back(t.strategy.tensor);
  return all;
}

bool has(const std::string& text, const char* part) {
  std::string unwrapped;
  for (const char c : text) {
    const char blank = c == '\n' ? ' ' : c;
    if (blank != ' ' || unwrapped.empty() || unwrapped.back() != ' ') unwrapped += blank;
  }
  return unwrapped.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("of strategies within 1 % of each other the one with the least memory comes first") {
  const SearchReport report =
      report_of({tried(1, 1.500, 78), tried(2, 1.514, 40), tried(4, 1.516, 20)});
  CHECK(tensors(report) == std::vector{2, 1, 4});
  const std::string text = search_text(report, {});
  CHECK(has(text, "no other strategy of these is faster by more than 1 %"));
  CHECK(has(text, "-0.9 %"));
}

TEST_CASE("a search warns of a best strategy that fills its memory, and of others that do") {
  const char* fact =
      "two of 27 measured runs at 93 % and more took about 30 % longer than predicted";
  const std::string full = search_text(report_of({tried(1, 1.5, 78)}), {});
  CHECK(has(full, "Memory the best fills 98 % of the memory: "));
  CHECK(has(full, fact));
  const std::string other = search_text(report_of({tried(1, 1.5, 60), tried(2, 1.6, 75)}), {});
  CHECK(has(other, "Memory from 74.4 GiB on beware: "));
  CHECK(has(other, fact));
  CHECK_FALSE(has(search_text(report_of({tried(1, 1.5, 74)}), {}), fact));
}
