// Makes recordings of the tables that nsys exports, whichever of them are there.
//
// Correlation ids are those of a process. Names are ids of texts.
#include "sim/recording/nsys/read_nsys.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/recording/files/rank_in_name.hpp"
#include "sim/recording/nsys/nsys_database.hpp"
#include "sim/recording/nsys/nsys_ids.hpp"
#include "sim/recording/nsys/nvtx_text.hpp"
#include "sim/recording/nsys/other_databases.hpp"
#include "sim/recording/nsys/reader_notes.hpp"
#include "sim/recording/nsys/step_ranges.hpp"
#include "sim/recording/recorded_names.hpp"

namespace stepsim {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kSets = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kRanges = "NVTX_EVENTS";

/// A host has up to 16 GPUs, and each of its processes may use all; more is damage.
constexpr std::size_t kMostGpus = 1024;

/// ENUM_NSYS_EVENT_TYPE: ranges of NVTX, and of text files that nsys imports as such.
constexpr std::array<std::int64_t, 4> kRangeTypes{59, 60, 70, 71};

/// ENUM_CUDA_MEMCPY_OPER, in the words of Kineto.
constexpr std::array<const char*, 14> kCopyKinds{"",     "HtoD", "DtoH", "HtoA", "AtoH",
                                                 "AtoA", "AtoD", "DtoA", "DtoD", "HtoH",
                                                 "PtoP", "HtoD", "DtoH", "DtoD"};
/// ENUM_CUDA_MEM_KIND, in the words of Kineto.
constexpr std::array<const char*, 7> kMemoryKinds{"Pageable", "Pinned", "Device", "Array",
                                                  "Managed",  "Device", "Managed"};

template <std::size_t N>
const char* word(const std::array<const char*, N>& words, const NsysRow& row, int column) {
  if (!row.has(column)) return "";
  const std::int64_t kind = row.number(column);
  return kind >= 0 && kind < static_cast<std::int64_t>(N) ? words[static_cast<std::size_t>(kind)]
                                                          : "";
}

/// cudaLaunchKernel_v7000 and cudaMemcpyAsync_v3020_ptsz are cudaLaunchKernel and cudaMemcpyAsync.
std::string_view without_version(std::string_view name) {
  for (const std::string_view end : {"_ptsz", "_ptds"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  const std::size_t at = name.rfind("_v");
  if (at == name.npos || at == 0 || at + 2 == name.size()) return name;
  const bool is_number = name.find_first_not_of("0123456789", at + 2) == name.npos;
  // cuMemcpyHtoDAsync_v2 is a name of the driver's; versions of CUDA are 3020 and above.
  return is_number && name.size() - at > 5 ? name.substr(0, at) : name;
}

struct ActivitiesOfGpu {
  std::vector<GpuActivity> activities;
  std::size_t untimed = 0, graphs = 0;
};
using GpuOfProcess = std::pair<std::uint64_t, std::int64_t>;  // globalPid, deviceId

class NsysReader {
 public:
  explicit NsysReader(const std::string& path) : path_(path), database_(path) {
    const std::string other = other_database_by_tables(database_.tables());
    if (!other.empty())
      throw UserError(fmt::format("{}: this is no recording of Nsight Systems, but {}",
                                  quoted_path(path), other));
  }

  std::vector<Recording> read() && {
    read_metadata();
    read_threads();
    read_activities();
    if (gpus_.empty()) add_busiest_process();
    if (gpus_.empty())
      throw UserError(
          fmt::format("{}: Nsight Systems recorded no CUDA and no NVTX in this: record with "
                      "--trace=cuda,nvtx",
                      quoted_path(path_)));
    names_ = names_in_file_.take();
    std::vector<Recording> recordings;
    for (auto& [gpu, found] : gpus_) recordings.push_back(recording_of(gpu, std::move(found)));
    if (recordings.size() == 1) take_rank_from_name(recordings.front());
    return recordings;
  }

 private:
  void read_metadata() {
    database_.each("StringIds", {"id", "value"},
                   [&](const NsysRow& row) { strings_.emplace(row.number(0), row.text(1)); });
    for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
      database_.each(table, {"name", "value"}, [&](const NsysRow& row) {
        if (row.text(0) == "EXPORT_PRODUCT_VERSION") version_ = row.text(1);
      });
    }
    database_.each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [&](const NsysRow& row) {
      const Nanoseconds epoch = row.number(0);
      if (epoch > 0 && epoch < kLatest) epoch_ = epoch;
    });
    database_.each("TARGET_INFO_GPU", {"id", "name"},
                   [&](const NsysRow& row) { gpu_names_.emplace(row.number(0), row.text(1)); });
    database_.each("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}, [&](const NsysRow& row) {
      gpu_ids_.emplace(std::pair{row.number(0), row.number(1)}, row.number(2));
    });
    lost_events_ = about_lost_events(database_);
    full_buffers_ = full_buffers(database_);
  }

  std::string_view string(std::int64_t id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? std::string_view() : std::string_view(found->second);
  }

  /// The time in columns 0 and 1, since 1970.
  std::optional<Interval> time_in(const NsysRow& row) const {
    auto time = moments_in(row);
    if (time) time = {time->start + epoch_, time->end + epoch_};
    return time;
  }

  void add_host_event(std::uint64_t thread, HostEvent event) {
    by_thread_[thread].push_back(event);
  }

  void read_threads() {
    database_.each(kCalls, {"start", "end", "globalTid", "correlationId", "nameId"},
                   [&](const NsysRow& row) {
                     const auto time = time_in(row);
                     if (!time) return;
                     add_host_event(static_cast<std::uint64_t>(row.number(2)),
                                    {.time = *time,
                                     .correlation = static_cast<std::uint64_t>(row.number(3)),
                                     .name = call_name(row.number(4)),
                                     .work = HostWork::runtime});
                   });
    database_.each(kRanges, {"start", "end", "globalTid", "text", "textId", "eventType"},
                   [&](const NsysRow& row) { add_range(row); });
  }

  std::uint32_t call_name(std::int64_t id) {
    const auto [known, is_new] = call_names_.try_emplace(id, 0);
    if (is_new) known->second = names_in_file_.index_of(without_version(string(id)));
    return known->second;
  }

  void add_range(const NsysRow& row) {
    // A range without an end was open when the recording ended: nobody knows how long it took.
    const auto time = time_in(row);
    const bool is_range = std::ranges::find(kRangeTypes, row.number(5)) != kRangeTypes.end();
    if (!time || !is_range) return;
    std::string text = row.text(3);
    if (text.empty()) text = string(row.number(4));
    const NvtxName name = name_in_nvtx(text);
    has_shapes_ |= name.has_shapes;
    has_operators_ |= name.is_of_pytorch;
    if (name.name.empty()) return;
    add_host_event(static_cast<std::uint64_t>(row.number(2)),
                   {.time = *time, .name = names_in_file_.index_of(name.name), .work = name.work});
  }

  void read_activities() {
    // The first six columns are those that add_activity reads.
    database_.each(
        kKernels,
        {"start", "end", "deviceId", "globalPid", "streamId", "correlationId", "demangledName",
         "shortName", "mangledName"},
        [&](const NsysRow& row) { add_activity(row, GpuWork::kernel, kernel_name(row)); });
    database_.each(kCopies,
                   {"start", "end", "deviceId", "globalPid", "streamId", "correlationId", "bytes",
                    "copyKind", "srcKind", "dstKind"},
                   [&](const NsysRow& row) {
                     add_activity(row, GpuWork::copy, copy_name(row), bytes_in(row));
                   });
    database_.each(
        kSets,
        {"start", "end", "deviceId", "globalPid", "streamId", "correlationId", "bytes", "memKind"},
        [&](const NsysRow& row) { add_activity(row, GpuWork::set, set_name(row), bytes_in(row)); });
    database_.each(
        kGraphs, {"start", "end", "deviceId", "globalPid", "streamId", "correlationId", "graphId"},
        [&](const NsysRow& row) {
          ++gpus_[gpu_in(row)].graphs;
          add_activity(row, GpuWork::kernel, graph_name(row));
        });
  }

  static double bytes_in(const NsysRow& row) {
    return static_cast<double>(std::max<std::int64_t>(row.number(6), 0));
  }

  /// By the names in columns 6 to 8, the first that is there.
  std::uint32_t kernel_name(const NsysRow& row) {
    for (int column = 6; column <= 8; ++column) {
      const std::int64_t id = row.number(column);
      if (!row.has(column) || string(id).empty()) continue;
      const auto [known, is_new] = kernel_names_.try_emplace(id, 0);
      if (is_new) known->second = names_in_file_.index_of(string(id));
      return known->second;
    }
    return names_in_file_.index_of("");
  }

  std::uint32_t copy_name(const NsysRow& row) {
    return names_in_file_.index_of(fmt::format("Memcpy {} ({} -> {})", word(kCopyKinds, row, 7),
                                               word(kMemoryKinds, row, 8),
                                               word(kMemoryKinds, row, 9)));
  }
  std::uint32_t set_name(const NsysRow& row) {
    return names_in_file_.index_of(fmt::format("Memset ({})", word(kMemoryKinds, row, 7)));
  }
  std::uint32_t graph_name(const NsysRow& row) {
    return names_in_file_.index_of(fmt::format("replay of CUDA graph {}", row.number(6)));
  }

  GpuOfProcess gpu_in(const NsysRow& row) const {
    const auto process = static_cast<std::uint64_t>(row.number(3));
    return {row.has(3) ? process_of(process) : only_process(), row.number(2)};
  }

  /// Whose work that is which does not say it: of the one process that called the runtime.
  std::uint64_t only_process() const {
    const std::uint64_t first = by_thread_.empty() ? 0 : process_of(by_thread_.begin()->first);
    const std::uint64_t last = by_thread_.empty() ? 0 : process_of(by_thread_.rbegin()->first);
    return first == last ? first : 0;
  }

  void add_activity(const NsysRow& row, GpuWork work, std::uint32_t name, double bytes = 0) {
    ActivitiesOfGpu& gpu = gpus_[gpu_in(row)];
    if (gpus_.size() > kMostGpus) throw SQLite::Exception("work of more than 1,024 GPUs");
    const auto time = time_in(row);
    // CUPTI writes 0 where it had no time for a kernel (pytorch/kineto issue 109).
    if (!time || time->length() == 0) {
      ++gpu.untimed;
      return;
    }
    GpuActivity activity;
    activity.time = *time;
    activity.correlation = static_cast<std::uint64_t>(row.number(5));
    activity.name = name;
    activity.stream = static_cast<std::int32_t>(row.number(4));
    activity.work = work;
    activity.bytes = bytes;
    gpu.activities.push_back(activity);
  }

  /// A file without work of a GPU still says what its busiest process called.
  void add_busiest_process() {
    std::map<std::uint64_t, std::size_t> events;
    for (const auto& [thread, of_it] : by_thread_) events[process_of(thread)] += of_it.size();
    const auto busiest =
        std::ranges::max_element(events, {}, [](const auto& process) { return process.second; });
    if (busiest != events.end()) gpus_[{busiest->first, 0}];
  }

  Recording recording_of(const GpuOfProcess& gpu, ActivitiesOfGpu found) {
    Recording recording;
    recording.file = path_;
    recording.format = "Nsight Systems";
    if (!version_.empty()) recording.format += " " + version_;
    if (gpus_.size() > 1)
      recording.format +=
          fmt::format(" (process {}, GPU {})", process_number(gpu.first), gpu.second);
    recording.device = device_name(gpu);
    recording.names = names_;
    for (auto thread = by_thread_.lower_bound(gpu.first);
         thread != by_thread_.end() && process_of(thread->first) == gpu.first; ++thread)
      recording.threads.push_back({std::to_string(process_number(thread->first)),
                                   std::to_string(thread_number(thread->first)), thread->second});
    recording.activities = std::move(found.activities);
    recording.notes.untimed = found.untimed;
    recording.notes.has_shapes = has_shapes_;
    recording.notes.sentences = sentences_about(gpu.first, found.graphs);
    recording = put_in_order(std::move(recording));
    recording.steps = step_ranges(recording);
    if (!recording.steps.empty())
      recording.notes.sentences.push_back(about_steps_taken(recording.steps.front().name));
    return recording;
  }

  std::vector<std::string> sentences_about(std::uint64_t process, std::size_t graphs) const {
    std::vector<std::string> say = lost_events_;
    const auto waits = full_buffers_.find(process);
    if (waits != full_buffers_.end()) say.push_back(about_full_buffers(waits->second));
    if (graphs > 0) say.push_back(about_whole_graphs(graphs));
    if (has_operators_) say.emplace_back(kAboutOperators);
    return say;
  }

  /// Empty where the file does not say it.
  std::string device_name(const GpuOfProcess& gpu) const {
    const auto mapped =
        gpu_ids_.find({static_cast<std::int64_t>(process_number(gpu.first)), gpu.second});
    const auto named = gpu_names_.find(mapped == gpu_ids_.end() ? gpu.second : mapped->second);
    if (named != gpu_names_.end()) return named->second;
    return gpu_names_.size() == 1 ? gpu_names_.begin()->second : "";
  }

  std::string path_, version_;
  NsysDatabase database_;
  Nanoseconds epoch_ = 0;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::map<std::int64_t, std::string> gpu_names_;                          // by TARGET_INFO_GPU.id
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> gpu_ids_;  // by process, CUDA's id
  RecordedNames names_in_file_;
  std::unordered_map<std::int64_t, std::uint32_t> call_names_, kernel_names_;  // by id of the text
  std::vector<std::string> names_, lost_events_;
  std::map<std::uint64_t, std::vector<Interval>> full_buffers_;  // by globalPid
  std::map<std::uint64_t, std::vector<HostEvent>> by_thread_;    // by globalTid
  std::map<GpuOfProcess, ActivitiesOfGpu> gpus_;
  bool has_shapes_ = false, has_operators_ = false;
};

}  // namespace

std::vector<Recording> read_nsys(const std::string& path) {
  try {
    return NsysReader(path).read();
  } catch (const SQLite::Exception& error) {
    throw UserError(fmt::format("{}: this database of SQLite is damaged, cut or encrypted: {}",
                                quoted_path(path), error.what()));
  }
}

}  // namespace stepsim
