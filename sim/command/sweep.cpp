// stepsim sweep: a scenario along axes -> outcomes in a file -> the best of them, and how flat.
#include "sim/command/sweep.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/command/answer/simulated_point.hpp"
#include "sim/command/sweep/pending_points.hpp"
#include "sim/command/sweep/sweep_answer.hpp"
#include "sim/core/duration.hpp"
#include "sim/core/hash.hpp"
#include "sim/core/trim.hpp"
#include "sim/core/version.hpp"
#include "sim/page/page.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/process/forked.hpp"
#include "sim/process/progress.hpp"
#include "sim/process/ranks.hpp"
#include "sim/report/sweep.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/sweep/load_sweep.hpp"
#include "sim/scenario/sweep/sweep_points.hpp"
#include "sim/store/sweep_store.hpp"
#include "sim/sweep/shard.hpp"
#include "sim/text/file.hpp"

namespace stepsim {
namespace {

// Values of an axis that are tried, to see which profiles they read.
constexpr std::int64_t kTriedScenarios = 100;

double memory_limit(const std::string& text) {
  try {
    const auto number = leading_number(text);
    Bytes size;
    if (!number || number->value > 0) read_scalar(text, size);
    if (size <= Bytes{0}) throw Mistake{fmt::format("{} is not above 0", quoted(text)), ""};
    return size.bytes();
  } catch (const Mistake& mistake) {
    throw UserError({Diagnostic{.message = "--point-memory: " + mistake.message,
                                .proposal = mistake.proposal}});
  }
}

ForkLimits limits_of(const SweepOptions& options) {
  ForkLimits limits{.seconds = duration_of("--point-timeout", options.point_timeout), .bytes = 0};
  if (!options.point_memory.empty()) limits.bytes = memory_limit(options.point_memory);
  limits.copies = Copies::kept;
  return limits;
}

/// What all profiles are that points read: each value of each axis with the first ones of the
/// others.
std::string inputs_of(const Sweep& sweep) {
  std::string all;
  std::int64_t stride = 1;
  for (std::size_t a = sweep.axes.size(); a-- > 0;) {
    const auto values = static_cast<std::int64_t>(sweep.axes[a].values.size());
    for (std::int64_t v = 0; v < std::min(values, kTriedScenarios); ++v) {
      try {
        all += fingerprint_of(scenario_of(sweep, v * stride, known_names()));
      } catch (const UserError&) {
        all += "refused";
      }
    }
    stride *= values;
  }
  return fnv1a_hex(all);
}

PointList points_to_run(const Sweep& sweep) {
  Problems problems;
  PointList points = points_of(sweep, problems);
  problems.throw_if_any();
  if (points.count() == 0)
    throw UserError(fmt::format("none of {:.0f} points meets the conditions of --where",
                                grid_size(sweep.axes)));
  return points;
}

SweepRecord record_of(const Sweep& sweep, const PointList& points, const SweepOptions& options) {
  return {.identity = identity_of(sweep),
          .inputs = inputs_of(sweep),
          .name = sweep.name,
          .file = options.scenario.path,
          .axes = sweep.axes,
          .points = points.count(),
          .objective = sweep.objective};
}

/// An objective that no point can have is said before the first of them is simulated.
void check_objective(const Sweep& sweep, std::int64_t first) {
  const auto varies = [&](const std::string& key) {
    for (const SweepAxis& axis : sweep.axes)
      for (const std::string& path : axis.paths)
        if (path == key || path.starts_with(key + ".")) return true;
    return false;
  };
  Scenario scenario;
  try {
    scenario = scenario_of(sweep, first, known_names());
  } catch (const UserError&) {  // the scenario of another point may be fine
    return;
  }
  const Aim aim = objective_of(sweep.objective).aim;
  if (aim == Aim::cost && !scenario.cost && !varies("cost"))
    throw UserError({Diagnostic{.message = "--objective cost: the scenario has no price",
                                .proposal = "state `cost: {price: 2.50 $/gpu/h}` in it"}});
  const bool is_of_tokens = aim == Aim::tokens_per_s || aim == Aim::tokens_per_s_per_gpu;
  const auto* transformer = std::get_if<Transformer>(&scenario.model.shape);
  const bool has_tokens = transformer != nullptr && !transformer->vision;
  if (is_of_tokens && !has_tokens && !varies("model"))
    throw UserError({Diagnostic{.message = fmt::format("--objective {}: '{}' has no tokens",
                                                       sweep.objective, scenario.model.name),
                                .proposal = "--objective samples_per_s is of its samples"}});
}

/// What is to be done, which is the same on all ranks.
struct Job {
  Sweep sweep;
  PointList points;
  Shard shard;
  SweepRecord record;
  ForkLimits limits;
  std::string build;  ///< identity of this program
};

Job job_of(const SweepOptions& options) {
  SweepRequest request{.path = options.scenario.path,
                       .overrides = {},
                       .vary = options.vary,
                       .where = options.where,
                       .random = options.random,
                       .seed = options.seed,
                       .objective = options.objective};
  for (const std::string& text : options.scenario.overrides)
    request.overrides.push_back(parse_override(text));
  const ForkLimits limits = limits_of(options);
  Sweep sweep = load_sweep(request);
  objective_of(sweep.objective);
  PointList points = points_to_run(sweep);
  const Shard shard = shard_of(options.shard);
  if (shard.of > points.count())
    throw UserError(fmt::format("--shard '{}': {} parts of {} points: some would have none",
                                options.shard, shard.of, points.count()));
  check_objective(sweep, points[0]);
  SweepRecord record = record_of(sweep, points, options);
  return {std::move(sweep),
          std::move(points),
          shard,
          std::move(record),
          limits,
          fmt::format("{} {}", kVersion, options.build)};
}

/// Points of a sweep are kept where profiles and program are the same, or the program may differ.
void check_unchanged(const SweepStore& store, const SweepRecord& there, const Job& job,
                     const SweepOptions& options) {
  if (there.inputs != job.record.inputs)
    throw UserError(fmt::format(
        "'{}' has points of this sweep from before a profile changed: --restart simulates them "
        "again",
        options.store));
  std::vector<std::string> others = store.builds();
  std::erase(others, job.build);
  if (!others.empty() && !options.any_build)
    throw UserError(fmt::format(
        "'{}' has points of this sweep that another build of stepsim simulated ({}; this one is "
        "{}): --restart simulates them again, --any-build keeps them",
        options.store, fmt::join(others, ", "), job.build));
}

/// Chooses the sweep in its file; what is there of it already is kept or begun anew, as asked.
void choose(SweepStore& store, const Job& job, const SweepOptions& options, std::ostream& notes) {
  const auto& [sweep, points, shard, record, limits, build] = job;
  const auto known = store.sweeps();
  const auto same = [&identity = record.identity](const SweepRecord& other) {
    return other.identity == identity;
  };
  const auto found = std::ranges::find_if(known, same);
  if (options.resume && found == known.end() && !known.empty())
    notes << fmt::format(
        "nothing to resume: '{}' has other sweeps only, of another scenario, axes or conditions\n",
        options.store);
  if (found == known.end() || options.restart) return store.choose(record, options.restart);
  store.look_at(*found);
  const std::int64_t done = store.count();
  if (done > 0) check_unchanged(store, *found, job, options);
  std::int64_t wanted = 0, ours = 0;
  for (std::int64_t i = 0; i < points.count() && done > 0; ++i) {
    if (!store.has(points[i])) continue;
    ++wanted;
    ours += shard.has(i) ? 1 : 0;
  }
  if (wanted < done)
    throw UserError(
        fmt::format("'{}' is damaged: it has {} points of this sweep that its conditions leave out "
                    "(--restart simulates it again, --db keeps it in another file)",
                    options.store, done - wanted));
  const std::int64_t asked = shard.share(points.count());
  const bool is_whole = done == asked && ours == asked;
  if (!SweepStore::is_read_only(options.store)) {
    store.choose(record, false);
  } else if (ours < asked) {
    throw IoError(fmt::format("cannot write '{}', which has {} of {} points of this sweep",
                              options.store, ours, asked));
  }
  if (options.resume) return;
  if (!is_whole && done > 0)
    throw UserError(fmt::format(
        "'{}' has {} of {} points of this sweep: --resume goes on, --restart begins anew",
        options.store, done, shard.is_all() || done > asked ? record.points : asked));
  if (is_whole && done > 0)
    notes << fmt::format("'{}' has this sweep already; --restart simulates it again\n",
                         options.store);
}

/// A store that may not be written is read: a sweep that is done can be printed.
SweepStore opened(const std::string& path) {
  return SweepStore::is_read_only(path) ? SweepStore::reader(path) : SweepStore(path);
}

/// Simulates points one after another. What they leave behind spares those that follow work.
class PointWork {
 public:
  explicit PointWork(const Sweep& sweep) : sweep_(sweep), names_(known_names()) {}

  /// Reads a point in this process, so that its copies find libraries linked and profiles read.
  void warm_up(std::int64_t point) {
    try {
      scenario_of(sweep_, point, names_);
    } catch (const UserError&) {  // the copy that simulates the point will say so
    }
  }

  /// The answer as text. Points that are of one scenario are simulated once in each process.
  const std::string& operator()(std::int64_t point) {
    try {
      const Scenario scenario = scenario_of(sweep_, point, names_);
      const std::string fingerprint = fingerprint_of(scenario);
      const auto known = answers_.find(fingerprint);
      if (known != answers_.end()) return known->second;
      if (answers_.size() >= kMostAnswers) answers_.clear();
      return answers_.insert_or_assign(fingerprint, answer_of(scenario, fingerprint)).first->second;
    } catch (const UserError& error) {
      throw UserError(sentence_of(error));
    }
  }

 private:
  // An answer is a third of a kilobyte.
  static constexpr std::size_t kMostAnswers = 100'000;

  std::string answer_of(const Scenario& scenario, const std::string& fingerprint) {
    try {
      return text_of(PointAnswer{fingerprint, simulated_point(scenario, plans_)});
    } catch (const UserError& error) {
      const std::string reason = on_one_line(sentence_of(error));
      return text_of(PointAnswer{fingerprint, {PointState::refused, reason, {}}});
    }
  }

  const Sweep& sweep_;
  KnownNames names_;
  PlanCache plans_;
  std::unordered_map<std::string, std::string> answers_;  ///< by fingerprints of scenarios
};

/// How a rank does a point. By default a lone process does as many at a time as there are cores;
/// where there are several ranks each does one.
RankWork work_of(const Job& job, const SweepOptions& options, const Ranks& ranks, PointWork& work) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int at_a_time = ranks.size() > 1 ? 1 : cores;
  return {.task = fmt::format("{} {} {} {}", job.record.identity, job.record.inputs, job.build,
                              options.shard),
          .jobs = options.jobs > 0 ? options.jobs : at_a_time,
          .limits = job.limits,
          .work = [&work](std::int64_t point) { return work(point); }};
}

/// A rank that is told what to do.
ExitCode follow(Ranks& ranks, const SweepOptions& options) {
  try {
    const Job job = job_of(options);
    PointWork work(job.sweep);
    work.warm_up(job.points[0]);
    ranks.follow(work_of(job, options, ranks, work));
  } catch (const std::exception& error) {
    ranks.refuse(error.what());  // rank 0 says it
  }
  return ExitCode::ok;
}

/// Simulates every point that is not done yet; false where it was interrupted.
bool run_points(const Job& job, const SweepOptions& options, Ranks& ranks, SweepStore& store,
                std::ostream& notes) {
  std::optional<PointsProgress> progress;
  const std::function<void()> on_done = [&] { progress->step(); };
  PendingPoints due(job.sweep, job.points, job.shard, store, job.build, on_done);
  const std::int64_t left = due.left();
  progress.emplace(notes, left, options.screen.progress);
  PointWork work(job.sweep);
  if (left > 0) work.warm_up(job.points[0]);
  const bool whole =
      ranks.lead([&] { return due.next(); }, work_of(job, options, ranks, work),
                 [&](const Ended& ended) { due.keep(ended); }, [&] { store.save(); });
  progress.reset();
  store.flush();
  return whole;
}

void print(const SweepAnswer& answer, const SweepOptions& options, const SweepStore& store,
           std::ostream& out) {
  const EachPoint each = [&](const auto& visit) { store.each(visit); };
  if (options.format == "json") return write_sweep_json(answer, each, out);
  if (options.format == "csv") return write_sweep_csv(answer, each, out);
  out << sweep_text(answer, options.screen);
}

}  // namespace

ExitCode sweep(const SweepOptions& asked, std::ostream& out, std::ostream& notes) {
  SweepOptions options = asked;
  const Shard shard = shard_of(options.shard);
  if (options.store.empty()) options.store = default_store(options.scenario.path, shard);
  Ranks ranks(!shard.is_all());
  if (ranks.rank() > 0) return follow(ranks, options);
  const Job job = job_of(options);
  const Output page = html_output(options.html, options.force, {"sweep"});
  // The store refuses files of others itself, and prints from one that may not be written.
  const bool is_new = !SweepStore::is_read_only(options.store);
  check_outputs({{"--db", is_new ? options.store : "", {}, true}, page});
  SweepStore store = opened(options.store);
  choose(store, job, options, notes);
  const bool whole = run_points(job, options, ranks, store, notes);
  const SweepAnswer answer = sweep_answer(job.sweep, job.points, job.shard, store, options);
  print(answer, options, store, out);
  out.flush();  // before the ranks part
  if (!options.html.empty()) {
    std::ostringstream json;
    write_sweep_json(
        answer, [&](const auto& visit) { store.each(visit); }, json);
    save_page(page,
              {.kind = "sweep",
               .title = answer.name + ": a sweep",
               .documents = {{"result", json.str()}}},
              notes);
  }
  if (!whole) {
    notes << fmt::format("interrupted: {} of {} points are done; --resume goes on\n", answer.done,
                         answer.shard ? answer.shard->points : answer.wanted);
    return ExitCode::incomplete;
  }
  const bool is_empty_part = answer.shard && answer.shard->points == 0;
  return answer.best.empty() && !is_empty_part ? ExitCode::expectation_failed : ExitCode::ok;
}

}  // namespace stepsim
