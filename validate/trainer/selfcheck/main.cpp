// Compares real trainings on this CPU with their predictions as scenarios.
//
// In each of two rounds it calibrates (stepsim calibrate cpu) for some working sets, then goes over
// the grid twice: trains each setting (stepsim-train) and simulates it (stepsim run). What counts
// of a setting is the median of its passes; two settings are compared pass by pass, so that what
// others do on this machine meanwhile meets both. Nothing is fitted to a step. With --short there
// are six settings and one round, which take a minute.
//
// Prints a table, the errors, and which buckets and how many workers are fastest. Exit codes: 0
// where the mean error is below the lower limit and the orders of buckets and of workers are right;
// 1 where not, on a machine with nothing else to do, or above the upper limit on any; 77 between
// the two on a machine that others used, and on one that is too slow for the time, both of which
// show nothing (verdict.hpp); 2 where it is called wrongly. STEPSIM_SELFCHECK_LIMIT is one limit in
// the place of both, STEPSIM_SELFCHECK_BUDGET another duration for each calibration.
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "sim/core/duration.hpp"
#include "sim/core/error.hpp"
#include "validate/trainer/selfcheck/deadline.hpp"
#include "validate/trainer/selfcheck/judgement.hpp"
#include "validate/trainer/selfcheck/library.hpp"
#include "validate/trainer/selfcheck/others.hpp"
#include "validate/trainer/selfcheck/programs.hpp"
#include "validate/trainer/selfcheck/verdict.hpp"

namespace stepsim::selfcheck {
namespace {

/// How much is checked, and for how long.
struct Extent {
  std::vector<Setting> grid;
  int rounds, passes;  ///< rounds: a calibration each; passes: of each round
  Calibration calibration;
  /// time for everything; ctest's time-outs are longer (validate/CMakeLists.txt)
  std::chrono::seconds most;
  Limits limits;
};

/// The full check and the short one. Judgement: quiet machines came to 5 to 10 %; 0.5 does not fail
/// a busy one by chance. The few settings of the short check, on the coarse profile of a third of
/// the points, are off by half as much again. On two cores the full check takes four minutes, the
/// short one a minute (judgement).
Extent full_extent() {
  return {full_grid(), 2, 2, {{16, 32, 64}, 150}, std::chrono::minutes(12), {0.15, 0.5}};
}
Extent short_extent() {
  return {short_grid(), 1, 3, {{32}, 20}, std::chrono::minutes(7), {0.25, 0.75}};
}

constexpr const char* kUsage = "usage: stepsim-selfcheck [--short]\n";
constexpr const char* kHelp = R"(
Calibrates this CPU, trains small models on it, simulates them, and compares. --short: six
settings, in a minute; else 30, in four.

Exit codes: 0 passed: the mean error is within its limit, and orders are right
            1 failed, on a machine with nothing else to do, or by far
            2 called wrongly
            70 a program of it failed
            77 skipped, neither passed nor failed: others used the cores, or it took too long
STEPSIM_SELFCHECK_LIMIT=0.15 states the limit, STEPSIM_SELFCHECK_BUDGET=90s the time of a calibration.
)";

/// What the environment says in the place of the extent's own numbers.
struct Wishes {
  std::optional<double> limit, budget_s;
};

Wishes wishes() {
  Wishes result;
  if (const char* text = std::getenv("STEPSIM_SELFCHECK_LIMIT")) {
    const std::string_view limit = text;
    double value = 0;
    const auto read = std::from_chars(limit.data(), limit.data() + limit.size(), value);
    if (read.ec != std::errc() || read.ptr != limit.data() + limit.size() ||
        !std::isfinite(value) || value <= 0)
      throw UserError(
          fmt::format("STEPSIM_SELFCHECK_LIMIT: '{}' is no share above 0, like 0.15", limit));
    result.limit = value;
  }
  if (const char* text = std::getenv("STEPSIM_SELFCHECK_BUDGET"))
    result.budget_s = parse_duration(text);
  return result;
}

/// The measured seconds of a step, without the time that the trainer waited for a core. With a
/// loader there are more steps: those of the warm-up take the batches loaded before the first.
double train(const Setting& s, double time_limit_s) {
  const std::string ranks =
      s.ranks == 1 ? "" : fmt::format("mpirun --oversubscribe --bind-to none -n {} ", s.ranks);
  const std::string steps =
      s.loads() ? fmt::format("--steps 24 --warmup 8 --pictures 320x240 --workers {}", s.workers)
                : "--steps 10 --warmup 2";
  const std::string csv = output_of(fmt::format(
      "timeout {:.3f} {}{} --layers {} --width {} --batch {} --bucket {} {}", time_limit_s, ranks,
      STEPSIM_TRAINER, s.layers, s.width, s.batch, s.bucket_kib << 10, steps));
  return cell(csv, "undisturbed_median_s");
}

std::vector<Row> rows_for(const Extent& extent) {
  std::vector<Row> rows;
  for (const Setting& setting : extent.grid)
    if (setting.ranks == 1 || std::thread::hardware_concurrency() > 1)
      rows.push_back({setting, {}});
  return rows;
}

void pass_over(std::vector<Row>& rows, const std::vector<double>& predicted,
               const Deadline& deadline) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double left = deadline.left();
    try {
      rows[i].tries.push_back({train(rows[i].setting, left), predicted[i]});
    } catch (const std::runtime_error&) {
      (void)deadline.left();  // rethrows as OutOfTime where the time ran out
      throw;
    }
  }
}

std::vector<Row> measure_all(const Extent& extent) {
  const Deadline deadline(extent.most);
  Library library;
  std::vector<Row> rows = rows_for(extent);
  const std::size_t all = rows.size();
  for (int round = 0; round < extent.rounds; ++round) {
    library.calibrate(extent.calibration, extent.grid, deadline);
    std::erase_if(rows, [&](const Row& row) { return !library.has(row.setting); });
    std::vector<double> predicted;
    for (const Row& row : rows) predicted.push_back(library.predict(row.setting));
    for (int pass = 0; pass < extent.passes; ++pass) {
      std::cerr << fmt::format("round {} of {}, pass {} of {}\n", round + 1, extent.rounds,
                               pass + 1, extent.passes);
      pass_over(rows, predicted, deadline);
    }
  }
  if (rows.size() < all)
    std::cerr << fmt::format("{} of {} settings are left out: calibration had not enough time\n",
                             all - rows.size(), all);
  if (rows.empty()) throw OutOfTime("nothing could be compared");
  return rows;
}

void print(const std::vector<Row>& rows) {
  fmt::print("ranks layers width batch  bucket workers   measured  predicted    error\n");
  for (const Row& row : rows) {
    const Setting& s = row.setting;
    fmt::print("{:>5} {:>6} {:>5} {:>5} {:>7} {:>7} {:>7.2f} ms {:>7.2f} ms {:>+6.1f} %\n", s.ranks,
               s.layers, s.width, s.batch, s.ranks == 1 ? "-" : bucket_text(s),
               s.loads() ? std::to_string(s.workers) : "-", measured_seconds(row) * 1e3,
               predicted_seconds(row) * 1e3, error_of(row) * 100);
  }
}

/// Prints the orders. Returns whether all orders that stand out of the noise are right.
bool print_orders(const std::vector<Row>& rows) {
  fmt::print("\nFrom the fastest to the slowest\n");
  Order all;
  for (const Family& family : families_of(rows)) {
    const Setting& s = family.rows.front().setting;
    const Order order = order_of(family);
    all = {all.pairs + order.pairs, all.decided + order.decided, all.right + order.right};
    fmt::print("{}, {} x {} x {} x {}\n  measured   {}\n  predicted  {}\n", family.what, s.ranks,
               s.layers, s.width, s.batch, ranking_text(family, measured_seconds),
               ranking_text(family, predicted_seconds));
    fmt::print(
        "  {} of {} pairs stand out of the noise, {} of them right; the choice costs {:.1f} %\n",
        order.decided, order.pairs, order.right, regret_of(family) * 100);
  }
  fmt::print("{} of {} pairs that stand out of the noise are right\n", all.right, all.decided);
  return all.right == all.decided;
}

int check(const std::vector<Row>& rows, const Extent& extent, double others) {
  const bool in_order = print_orders(rows);
  const Verdict verdict = verdict_of(errors_of(rows), extent.limits, in_order, others);
  fmt::print("{}", verdict.text);
  return verdict.code;
}

int answer(bool is_short) {
  Extent extent = is_short ? short_extent() : full_extent();
  const Wishes asked = wishes();
  extent.calibration.budget_s = asked.budget_s.value_or(extent.calibration.budget_s);
  if (asked.limit) extent.limits = {*asked.limit, *asked.limit};
  const Others others;
  const std::vector<Row> rows = measure_all(extent);
  const double share = others.share();
  print(rows);
  return check(rows, extent, share);
}

}  // namespace
}  // namespace stepsim::selfcheck

int main(int argc, char** argv) {
  const std::string_view word = argc == 2 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    std::cout << stepsim::selfcheck::kUsage << stepsim::selfcheck::kHelp;
    return 0;
  }
  const bool is_short = word == "--short";
  if (argc > 1 && !is_short) {
    std::cerr << stepsim::selfcheck::kUsage;
    return 2;
  }
  // Allows root, as containers do; Open MPI asks for both variables.
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  try {
    return stepsim::selfcheck::answer(is_short);
  } catch (const stepsim::UserError& error) {
    std::cerr << "stepsim-selfcheck: " << error.what() << "\n";
    return 2;
  } catch (const stepsim::selfcheck::OutOfTime& error) {
    std::cerr << "stepsim-selfcheck: " << stepsim::selfcheck::skipped_text(error.what());
    return stepsim::selfcheck::kSkipped;
  } catch (const std::exception& error) {
    std::cerr << "stepsim-selfcheck: " << error.what() << "\n";
    return 70;
  }
}
