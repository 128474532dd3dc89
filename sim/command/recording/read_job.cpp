// Reads files beside each other, and puts their ranks together.
#include "sim/command/recording/read_job.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/calibrate/profile/nearest_gpu.hpp"
#include "sim/core/error.hpp"
#include "sim/recording/files/read_recordings.hpp"
#include "sim/recording/files/recording_files.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

/// What came of a recording.
struct OfRank {
  Observation seen;
  std::optional<ReplayPlan> plan;
  int rank_or_last() const { return seen.rank.value_or(std::numeric_limits<int>::max()); }
};

/// Profiles of GPUs by what recordings say of them, each looked for once, by whichever thread needs
/// it first.
class GpusByName {
 public:
  explicit GpusByName(Library library) : library_(std::move(library)) {}

  /// nullptr: none has its name, or several have, and its memory is not known; or that has another
  /// number of SMs, as cards for PCIe have.
  const GpuProfile* profile_of(const Recording& recording) {
    if (recording.device.empty()) return nullptr;
    const DeviceFacts facts{
        .name = recording.device,
        .sms = recording.device_sms,
        .memory_bytes = static_cast<std::int64_t>(std::min(recording.device_memory_bytes, 1e15))};
    const std::scoped_lock lock(mutex_);
    const auto [entry, is_new] = profiles_.try_emplace({facts.name, facts.sms, facts.memory_bytes});
    if (is_new) entry->second = found(facts);
    return entry->second ? &*entry->second : nullptr;
  }

 private:
  std::optional<GpuProfile> found(const DeviceFacts& facts) const {
    const std::string name = nearest_profile(facts, library_);
    if (name.empty()) return std::nullopt;
    GpuProfile gpu = load_gpu(name, library_);
    if (facts.sms > 0 && facts.sms != gpu.sms) return std::nullopt;
    return gpu;
  }

  Library library_;
  std::mutex mutex_;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::optional<GpuProfile>>
      profiles_;
};

/// What came of a file.
struct Read {
  std::vector<OfRank> ranks;
  std::vector<Diagnostic> mistakes;
};

Read read(const std::string& path, const KernelKinds& kinds, GpusByName& gpus, bool with_plan) {
  Read result;
  try {
    for (const Recording& recording : read_recordings(path)) {
      const GpuProfile* const gpu = gpus.profile_of(recording);
      result.ranks.push_back({observe(recording, kinds, gpu), {}});
      if (with_plan) result.ranks.back().plan = replay_plan(recording, kinds, gpu);
      result.ranks.back().seen.number = result.ranks.size() - 1;
    }
  } catch (const UserError& error) {
    result.mistakes = error.diagnostics();
  } catch (const IoError& error) {
    result.mistakes.push_back(Diagnostic{.message = error.what()});
  }
  return result;
}

std::vector<Read> read_all(const std::vector<std::string>& paths, const KernelKinds& kinds,
                           GpusByName& gpus, bool with_plans) {
  std::vector<Read> results(paths.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++)
      results[i] = read(paths[i], kinds, gpus, with_plans);
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < std::min(cores, paths.size()); ++i) workers.emplace_back(work);
  work();
  return results;
}

/// Files by the name that they have in their folder.
std::string names_of(const std::vector<std::string>& paths) {
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNamed, paths.size()); ++i)
    names.push_back(quoted_path(fs::path(paths[i]).filename().string()));
  return fmt::format("{}{}", fmt::join(names, ", "), paths.size() > kNamed ? ", ..." : "");
}

/// Leaves out all recordings of a rank but the last file's that is whole.
std::vector<OfRank> one_of_each_rank(std::vector<OfRank> ranks,
                                     std::vector<std::string>& sentences) {
  std::map<int, std::size_t> last;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i].seen.rank) continue;
    const auto [of_rank, is_new] = last.try_emplace(*ranks[i].seen.rank, i);
    if (!ranks[i].seen.is_cut || ranks[of_rank->second].seen.is_cut) of_rank->second = i;
  }
  std::vector<OfRank> kept;
  std::vector<std::string> left;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::optional<int> rank = ranks[i].seen.rank;
    if (!rank || last[*rank] == i) {
      kept.push_back(std::move(ranks[i]));
    } else {
      left.push_back(ranks[i].seen.file);
    }
  }
  if (!left.empty())
    sentences.push_back(fmt::format(
        "Some ranks have several recordings: the last whole file of each counts, and {} {} "
        "left out.",
        names_of(left), left.size() == 1 ? "is" : "are"));
  return kept;
}

/// Recordings that do not say their rank get the free ones, in order of their files.
void number_ranks(std::vector<OfRank>& ranks, std::vector<std::string>& sentences) {
  if (ranks.size() < 2 ||
      std::ranges::none_of(ranks, [](const OfRank& one) { return !one.seen.rank; }))
    return;
  std::set<int> taken;
  for (const OfRank& one : ranks) {
    if (one.seen.rank) taken.insert(*one.seen.rank);
  }
  int free = 0;
  for (OfRank& one : ranks) {
    if (one.seen.rank) continue;
    while (taken.contains(free)) ++free;
    one.seen.rank = free++;
  }
  sentences.push_back(
      "Recordings that do not say their rank are numbered in order of their files, by ranks that "
      "no other has.");
}

/// The job, and the plan of its pace rank.
ReadJob joined(std::vector<OfRank> ranks) {
  std::ranges::stable_sort(ranks, {}, &OfRank::rank_or_last);  // as job_of() does
  std::vector<Observation> seen;
  for (OfRank& one : ranks) seen.push_back(std::move(one.seen));
  RecordedJob job = job_of(std::move(seen));
  std::optional<ReplayPlan> pace = std::move(ranks[job.pace].plan);
  return {std::move(job), std::move(pace)};
}

}  // namespace

ReadJob read_job(const std::string& path, bool with_plan) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  const RecordingFiles files = recording_files(path);
  const Library library = library_for(path);
  const KernelKinds kinds = load_kernel_kinds(library);
  GpusByName gpus(library);
  std::vector<Read> results = read_all(files.recordings, kinds, gpus, with_plan && !is_folder);
  std::vector<OfRank> ranks;
  std::vector<Diagnostic> mistakes;
  std::vector<std::string> sentences;
  for (Read& result : results) {
    for (OfRank& one : result.ranks) ranks.push_back(std::move(one));
    for (Diagnostic& mistake : result.mistakes) mistakes.push_back(std::move(mistake));
  }
  if (ranks.empty()) throw UserError(std::move(mistakes));
  for (const Diagnostic& mistake : mistakes)
    sentences.push_back(fmt::format("Left out: {}.", mistake.message));
  if (!files.unreadable.empty())
    sentences.push_back(fmt::format("Left out, cannot be read: {}.", names_of(files.unreadable)));
  if (!files.others.empty())
    sentences.push_back(fmt::format("Left out, no recordings: {}.", names_of(files.others)));
  ranks = one_of_each_rank(std::move(ranks), sentences);
  number_ranks(ranks, sentences);
  ReadJob result = joined(std::move(ranks));
  result.job.path = path;
  // A folder has many files, and only one rank is replayed: that rank's file is read again.
  if (with_plan && is_folder) {
    const Observation& pace = result.job.pace_rank();
    const Recording recording = read_recordings(pace.file).at(pace.number);
    result.pace = replay_plan(recording, kinds, gpus.profile_of(recording));
  }
  std::vector<std::string>& not_known = result.job.not_known;
  not_known.insert(not_known.begin(), sentences.begin(), sentences.end());
  return result;
}

}  // namespace stepsim
