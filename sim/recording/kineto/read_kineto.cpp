// Makes a recording of Kineto's events, with the names and clocks of all its generations.
//
// Categories until PyTorch 1.10 were Operator, Runtime, Kernel, Memcpy and Memset; then cpu_op,
// cuda_runtime (also for HIP), kernel, gpu_memcpy, gpu_memset, and cuda_driver beside them. Times
// are microseconds since 1970, or since `baseTimeNanoseconds` (pytorch/kineto 84d95b82).
#include "sim/recording/kineto/read_kineto.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/recording/files/rank_in_name.hpp"
#include "sim/recording/kineto/json_pieces.hpp"
#include "sim/recording/kineto/kineto_event.hpp"
#include "sim/recording/kineto/kineto_metadata.hpp"
#include "sim/recording/kineto/other_formats.hpp"
#include "sim/recording/marks.hpp"
#include "sim/recording/recorded_names.hpp"

namespace stepsim {
namespace {

enum class Category { other, operation, runtime, annotation, stack, memory, kernel, copy, set };

constexpr std::array kCategories{
    std::pair{"cpu_op", Category::operation},
    std::pair{"Operator", Category::operation},
    std::pair{"cuda_runtime", Category::runtime},
    std::pair{"cuda_driver", Category::runtime},
    std::pair{"Runtime", Category::runtime},
    std::pair{"hip_runtime", Category::runtime},
    std::pair{"hip_driver", Category::runtime},
    std::pair{"kernel", Category::kernel},
    std::pair{"Kernel", Category::kernel},
    std::pair{"gpu_memcpy", Category::copy},
    std::pair{"Memcpy", Category::copy},
    std::pair{"gpu_memset", Category::set},
    std::pair{"Memset", Category::set},
    std::pair{"user_annotation", Category::annotation},
    std::pair{"python_function", Category::stack},
    std::pair{"cpu_instant_event", Category::memory},
};

HostWork host_work_of(Category category) {
  switch (category) {
    case Category::runtime:
      return HostWork::runtime;
    case Category::annotation:
      return HostWork::annotation;
    case Category::stack:
      return HostWork::python;
    default:
      return HostWork::operation;
  }
}

Category category_of(std::string_view word) {
  for (const auto& [name, category] : kCategories) {
    if (word == name) return category;
  }
  return Category::other;
}

/// No event lasts a month: what does has an end of 0, from which its start was taken without a
/// sign.
constexpr Nanoseconds kLongestEvent = 30LL * 86'400 * 1'000'000'000;

/// Kineto moves the base every quarter of a year (7,889,238 s): what lies further from it than this
/// is in nanoseconds, which it can write since pytorch/kineto e44f6092.
constexpr Nanoseconds kFurthestFromBase = 10'000'000LL * 1'000'000'000;

/// What collectives say of themselves, each kept once: a run has few that differ.
class Collectives {
 public:
  std::uint32_t index_of(const RecordedCollective& collective) {
    const auto [at, is_new] = index_.try_emplace(
        std::tuple{collective.operation, collective.group, collective.in_elements,
                   collective.out_elements, collective.bytes_per_element, collective.group_size},
        static_cast<std::uint32_t>(all_.size()));
    if (is_new) all_.push_back(collective);
    return at->second;
  }
  std::vector<RecordedCollective> take() { return std::move(all_); }

 private:
  std::vector<RecordedCollective> all_;
  std::map<std::tuple<std::string, std::string, double, double, double, int>, std::uint32_t> index_;
};

/// Judgement: no dimension of a tensor is longer.
constexpr std::int64_t kLongestDimension = 1'000'000'000;

/// The sizes of one tensor, "8, 256"; none where one of them is no size.
std::vector<std::int64_t> sizes_of_tensor(std::string_view text) {
  std::vector<std::int64_t> sizes;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view one = text.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), size);
    if (error != std::errc() || end != one.data() + one.size() || size < 0 ||
        size > kLongestDimension)
      return {};
    sizes.push_back(size);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return sizes;
}

/// "[[8, 256], [], [1000]]"; what is nested deeper, as lists of tensors are, is left out.
std::vector<std::vector<std::int64_t>> sizes_in(std::string_view text) {
  std::vector<std::vector<std::int64_t>> sizes;
  int depth = 0;
  std::size_t begin = 0;
  bool is_list = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[') {
      ++depth;
      if (depth == 2) begin = at + 1;
      is_list = depth == 2 ? false : is_list || depth > 2;
    } else if (text[at] == ']') {
      if (depth == 2)
        sizes.push_back(is_list ? std::vector<std::int64_t>{}
                                : sizes_of_tensor(text.substr(begin, at - begin)));
      --depth;
    }
  }
  return sizes;
}

/// "float" of `["float", "Scalar"]`.
std::string first_in(std::string_view types) {
  const std::size_t begin = std::min(types.find('"'), types.size() - 1) + 1;
  return std::string(types.substr(begin, types.find('"', begin) - begin));
}

/// Shapes of operators, each kept once.
class Shapes {
 public:
  std::uint32_t index_of(std::uint32_t name, const KinetoEvent& event) {
    const auto [at, is_new] =
        index_.try_emplace(std::tuple{name, std::string(event.sizes), std::string(event.types)},
                           static_cast<std::uint32_t>(all_.size()));
    if (is_new)
      all_.push_back(
          {name, sizes_in(event.sizes), event.types.empty() ? "" : first_in(event.types)});
    return at->second;
  }
  std::vector<RecordedShape> take() { return std::move(all_); }

 private:
  std::vector<RecordedShape> all_;
  std::map<std::tuple<std::uint32_t, std::string, std::string>, std::uint32_t> index_;
};

class KinetoReader {
 public:
  explicit KinetoReader(std::string file) { recording_.file = std::move(file); }

  void add(const KinetoEvent& event) {
    const Category category = category_of(event.category);
    if (category == Category::other) {
      if (event.phase != 'M') others_.insert(std::string(event.category));
      return;
    }
    has_any_ = true;
    recording_.notes.has_operators |= category == Category::operation;
    recording_.notes.has_stacks |= category == Category::stack;
    recording_.notes.has_memory |= category == Category::memory;
    if (category == Category::memory) return add_memory(event);
    if (category >= Category::kernel) return add_activity(event, category);
    add_host_event(event, category);
  }
  void add_damaged() { ++recording_.notes.damaged; }
  bool has_any() const { return has_any_; }
  const std::set<std::string>& others() const { return others_; }

  Recording finished(const KinetoMetadata& metadata, bool is_cut) && {
    recording_.format = "PyTorch (Kineto)";
    recording_.names = names_.take();
    recording_.collectives = collectives_.take();
    recording_.shapes = shapes_.take();
    recording_.notes.is_cut = is_cut;
    recording_.notes.has_stacks |= metadata.has_stacks;
    recording_.notes.has_memory |= metadata.has_memory;
    recording_.notes.has_shapes = metadata.has_shapes;
    recording_.backend = metadata.backend;
    recording_.rank = metadata.rank;
    recording_.world_size = metadata.world_size;
    take_busiest_device(metadata);
    set_clock(metadata);
    return put_in_order(std::move(recording_));
  }

 private:
  /// Memory of the CPU is not kept.
  void add_memory(const KinetoEvent& event) {
    constexpr std::int64_t kCuda = 1;  // c10/core/DeviceType.h, which ROCm builds use, too
    if (event.device_type != kCuda) return;
    RecordedMemory& most = memory_[event.device.value_or(0)];
    most.allocated_bytes = std::max(most.allocated_bytes, event.allocated_bytes);
    most.reserved_bytes = std::max(most.reserved_bytes, event.reserved_bytes);
  }

  /// Nothing where the event has no start, or ends before it.
  std::optional<Interval> time_of(const KinetoEvent& event) {
    if (!event.start || !event.duration) return std::nullopt;
    if (*event.duration < 0 || *event.duration > kLongestEvent) return std::nullopt;
    return Interval{*event.start, *event.start + *event.duration};
  }

  void add_activity(const KinetoEvent& event, Category category) {
    const auto time = time_of(event);
    // CUPTI writes 0 where it had no time for a kernel (pytorch/kineto issue 109).
    if (!time || time->length() == 0) {
      ++recording_.notes.untimed;
      recording_.notes.untimed_launches.push_back(event.correlation);
      return;
    }
    GpuActivity activity;
    activity.time = *time;
    activity.correlation = event.correlation;
    activity.name = names_.index_of(event.name);
    activity.stream =
        static_cast<std::int32_t>(event.stream ? *event.stream : number_in(event.thread));
    activity.bytes = event.bytes;
    if (event.collective) activity.collective = collectives_.index_of(*event.collective);
    activity.work = category == Category::kernel ? GpuWork::kernel
                    : category == Category::copy ? GpuWork::copy
                                                 : GpuWork::set;
    by_device_[event.device ? *event.device : number_in(event.process)].push_back(activity);
  }

  void add_host_event(const KinetoEvent& event, Category category) {
    const auto time = time_of(event);
    if (!time) {
      ++recording_.notes.untimed_of_host;
      return;
    }
    HostEvent host;
    host.time = *time;
    host.correlation = event.correlation;
    host.name = names_.index_of(event.name);
    host.work = host_work_of(category);
    // Before September 2021 annotations were operators.
    if (marks_step(event.name) || marks_loader(event.name)) host.work = HostWork::annotation;
    RecordedThread& thread = thread_of(event);
    thread.events.push_back(host);
    if (!event.sizes.empty())
      thread.shaped_calls.push_back({*time, shapes_.index_of(host.name, event)});
    const auto collective = collective_of(event);
    if (collective) thread.collective_calls.push_back({*time, collectives_.index_of(*collective)});
  }

  /// What the event hands to a library of collectives, by its arguments or, in years that have
  /// none, by the name of PyTorch's annotation around it. A collective is recorded once more where
  /// it is waited for.
  static std::optional<RecordedCollective> collective_of(const KinetoEvent& event) {
    if (event.collective && event.collective->operation != "wait") return event.collective;
    for (const std::string_view mark : {"nccl:", "gloo:"}) {
      if (!event.name.starts_with(mark)) continue;
      RecordedCollective named;
      named.operation = event.name.substr(mark.size());
      return named;
    }
    return std::nullopt;
  }

  RecordedThread& thread_of(const KinetoEvent& event) {
    auto& threads = recording_.threads;
    if (last_thread_ < threads.size() && threads[last_thread_].process == event.process &&
        threads[last_thread_].thread == event.thread)
      return threads[last_thread_];
    const auto [at, is_new] = thread_index_.try_emplace(
        std::pair{std::string(event.process), std::string(event.thread)}, threads.size());
    if (is_new) threads.push_back({at->first.first, at->first.second, {}, {}, {}});
    last_thread_ = at->second;
    return threads[last_thread_];
  }

  static std::int64_t number_in(std::string_view text) {
    const std::size_t digit = text.find_first_of("0123456789");
    std::int64_t value = 0;
    if (digit != std::string_view::npos)
      std::from_chars(text.data() + digit, text.data() + text.size(), value);
    return value;
  }

  void take_busiest_device(const KinetoMetadata& metadata) {
    const auto busiest = std::max_element(
        by_device_.begin(), by_device_.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (busiest == by_device_.end()) {
      if (!metadata.devices.empty()) set_device(metadata.devices.begin()->second);
      return;
    }
    for (const auto& [device, activities] : by_device_) {
      if (device != busiest->first) recording_.notes.of_other_devices += activities.size();
    }
    recording_.activities = std::move(busiest->second);
    const auto memory = memory_.find(busiest->first);
    if (memory != memory_.end()) recording_.memory = memory->second;
    const auto name = metadata.devices.find(busiest->first);
    if (name != metadata.devices.end()) set_device(name->second);
    if (recording_.device.empty() && !metadata.devices.empty())
      set_device(metadata.devices.begin()->second);
  }

  void set_device(const KinetoDevice& device) {
    recording_.device = device.name;
    recording_.device_memory_bytes = device.memory_bytes;
    recording_.device_sms = device.sms;
  }

  /// Times were read as microseconds since 1970.
  void set_clock(const KinetoMetadata& metadata) {
    if (!metadata.base) return;
    std::ptrdiff_t near = 0, far = 0;  // one wrong time must not turn all
    const auto for_all = [&](const auto& work) {
      for (RecordedThread& thread : recording_.threads) {
        for (HostEvent& event : thread.events) work(event.time);
        for (CollectiveCall& call : thread.collective_calls) work(call.time);
        for (ShapedCall& call : thread.shaped_calls) work(call.time);
      }
      for (GpuActivity& activity : recording_.activities) work(activity.time);
    };
    for_all([&](const Interval& time) { ++(time.start > kFurthestFromBase ? far : near); });
    const bool is_in_nanoseconds = far > near;
    for_all([&](Interval& time) {
      if (is_in_nanoseconds) time = {time.start / 1000, time.end / 1000};
      time = {time.start + *metadata.base, time.end + *metadata.base};
    });
  }

  Recording recording_;
  RecordedNames names_;
  Collectives collectives_;
  Shapes shapes_;
  std::map<std::pair<std::string, std::string>, std::size_t> thread_index_;
  std::size_t last_thread_ = 0;
  std::map<std::int64_t, std::vector<GpuActivity>> by_device_;
  std::set<std::string> others_;                   ///< categories that are not read
  std::map<std::int64_t, RecordedMemory> memory_;  // by device
  bool has_any_ = false;
};

[[noreturn]] void refuse(const std::string& path, const std::string& is) {
  throw UserError(
      fmt::format("{}: this is no recording of PyTorch's profiler, but {}", quoted_path(path), is));
}

/// What the file is, if its first bytes are not JSON's.
void check_head(const std::string& path) {
  const auto bytes = open_bytes(path);
  std::array<char, 512> head{};
  std::size_t size = 0;
  for (std::size_t got = 1; got > 0 && size < head.size(); size += got)
    got = bytes->read(&head[size], head.size() - size);
  if (size == 0) refuse(path, bytes->is_cut() ? "damaged: it cannot be unpacked" : "empty");
  const std::string other = other_format_by_head({head.data(), size}, path);
  if (!other.empty()) refuse(path, other);
}

/// What a list is that holds no events.
std::string list_of(std::string_view item) {
  if (item.starts_with('['))
    return "a list of lists, as PyTorch's memory timelines are: it holds no kernels";
  return "a list of something else";
}

std::string without_events(const std::set<std::string>& categories) {
  std::vector<std::string> some;
  for (const std::string& category : categories) {
    if (!category.empty() && some.size() < 5) some.push_back(quoted(category));
  }
  return some.empty() ? "JSON without its events"
                      : fmt::format("a Chrome trace of another program: its events are {}",
                                    fmt::join(some, ", "));
}

}  // namespace

Recording read_kineto(const std::string& path) {
  check_head(path);
  const auto bytes = open_bytes(path);
  JsonPieces pieces(*bytes, "traceEvents", path);
  KinetoParser parser;
  KinetoReader reader(path);
  KinetoMetadata metadata;
  for (JsonPiece piece = pieces.next(); piece.kind != JsonPiece::Kind::end; piece = pieces.next()) {
    if (piece.kind == JsonPiece::Kind::member) {
      metadata.add(piece.key, piece.text);
      const std::string other = other_format_by_members(metadata.members);
      if (!other.empty() && !reader.has_any()) refuse(path, other);
    } else if (const auto event = parser.event(piece.text)) {
      reader.add(*event);
    } else if (pieces.is_list() && !reader.has_any()) {
      refuse(path, list_of(piece.text));
    } else {
      reader.add_damaged();
    }
  }
  const bool is_cut = pieces.is_cut() || bytes->is_cut();
  if (!reader.has_any())
    refuse(path, without_events(reader.others()) + (is_cut ? ", and cut" : ""));
  Recording recording = std::move(reader).finished(metadata, is_cut);
  take_rank_from_name(recording);
  return recording;
}

}  // namespace stepsim
