// A recording of a real run: what one process did on its threads and on its GPU, whoever wrote it.
//
// Readers of all formats fill it (kineto/, nsys/); whatever follows from a recording knows no
// format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/recording/interval_set.hpp"

namespace stepsim {

/// What an event of a thread is.
enum class HostWork : std::uint8_t {
  operation,   ///< an operator of the framework (aten::mm)
  runtime,     ///< a call of the GPU's runtime or driver (cudaLaunchKernel, hipMemcpyAsync)
  annotation,  ///< a range that the program or the framework named (ProfilerStep#5)
  python,      ///< a function of Python with its source line (train.py(42): main)
};

struct HostEvent {
  Interval time;
  std::uint64_t correlation = 0;  ///< of a runtime call: what it launches has the same; 0: none
  std::uint32_t name = 0;         ///< index in Recording::names
  HostWork work = HostWork::operation;
};

/// What a kernel of a communication library says of itself: one record for all calls that are alike
/// but for their order.
struct RecordedCollective {
  std::string operation;  ///< in the words of the recorder: allreduce, _allgather_base, send
  std::string group;      ///< name of the process group
  std::string group_description;  ///< what the program calls it; empty where it does not say
  std::vector<int> ranks;         ///< members; empty where the file does not say, or cuts the list
  int group_size = 0;             ///< 0: the file does not say
  double in_elements = 0, out_elements = 0;
  double bytes_per_element = 0;  ///< 0: the type is not known
  bool operator==(const RecordedCollective&) const = default;
};
inline constexpr std::uint32_t kNoCollective = 0xffffffff;

/// When a thread hands a collective to its library.
struct CollectiveCall {
  Interval time;
  std::uint32_t collective = kNoCollective;  ///< index in Recording::collectives
};

/// An operator with the sizes of its tensors: one record for all calls that are alike.
struct RecordedShape {
  std::uint32_t name = 0;                        ///< index in Recording::names
  std::vector<std::vector<std::int64_t>> sizes;  ///< of each argument; empty for what is no tensor
  std::string type;                              ///< of the first: float, c10::BFloat16
};

/// A call of an operator whose sizes were recorded.
struct ShapedCall {
  Interval time;
  std::uint32_t shape = 0;  ///< index in Recording::shapes
};

struct RecordedThread {
  std::string process, thread;    ///< their ids, as the file has them
  std::vector<HostEvent> events;  ///< in order of their start, the longer of two first
  std::vector<CollectiveCall> collective_calls;  ///< in order of their start
  /// Calls of the few operators that say what a model is (has_shape), in order of their start.
  std::vector<ShapedCall> shaped_calls;
};

/// A host event by its place in the recording.
struct HostEventPlace {
  std::uint32_t thread = 0, event = 0;
};

enum class GpuWork : std::uint8_t { kernel, copy, set };

struct GpuActivity {
  Interval time;
  std::uint64_t correlation = 0;
  std::optional<HostEventPlace> launch;      ///< the runtime call that launched it, where recorded
  std::uint32_t name = 0;                    ///< index in Recording::names
  std::uint32_t collective = kNoCollective;  ///< index in Recording::collectives
  std::int32_t stream = 0;
  GpuWork work = GpuWork::kernel;
  double bytes = 0;  ///< of copies and sets, where recorded
};

/// The most that the framework's allocator held on the GPU while it was recorded.
struct RecordedMemory {
  double allocated_bytes = 0;  ///< of tensors that live
  double reserved_bytes = 0;   ///< taken from the GPU, cached ones included
};

/// What a reader had to leave out or to mend, and what was recorded besides.
struct ReadingNotes {
  bool is_cut = false;              ///< the file ends before its text does
  std::size_t damaged = 0;          ///< events that are no JSON
  std::size_t untimed = 0;          ///< GPU activities without a time
  std::size_t untimed_of_host = 0;  ///< events of threads without a time, or with a wrong one
  std::vector<std::uint64_t> untimed_launches;  ///< their correlations
  std::size_t clipped = 0;           ///< durations that reached far over the stream's next activity
  std::size_t of_other_devices = 0;  ///< GPU activities of devices other than the busiest one
  std::size_t processes = 0;         ///< processes that launched work
  bool is_rank_from_name = false;    ///< the rank is the one in the file's name
  bool has_operators = false;        ///< PyTorch's profiler recorded each operator
  bool has_stacks = false, has_shapes = false, has_memory = false;  ///< recorders that were on
  std::vector<std::string> sentences;  ///< what a reader says besides, of its format alone
};

struct RecordedStep {
  std::string name;  ///< ProfilerStep#5
  Interval window;   ///< on the host: the GPU may end its work later
};

struct Recording {
  std::string file;                ///< as the user named it
  std::string format;              ///< who wrote it, as in "PyTorch (Kineto)"
  std::string device;              ///< name of the GPU; empty where the file does not say
  double device_memory_bytes = 0;  ///< 0: the file does not say
  int device_sms = 0;              ///< streaming multiprocessors; 0: the file does not say
  std::string backend;             ///< of the collectives; empty where the file does not say
  std::optional<int> rank, world_size;
  std::vector<std::string> names;  ///< of events, each once
  std::vector<RecordedThread> threads;
  bool is_of_core = false;              ///< the device is a core of a CPU (core_device.hpp)
  std::vector<GpuActivity> activities;  ///< of one GPU, in order of their start
  std::vector<RecordedCollective> collectives;
  std::vector<RecordedShape> shapes;
  std::optional<RecordedMemory> memory;  ///< absent: not recorded
  std::vector<RecordedStep> steps;  ///< where a reader chose them; else those of torch.profiler are
  ReadingNotes notes;

  const std::string& name_of(const HostEvent& event) const { return names[event.name]; }
  const std::string& name_of(const GpuActivity& activity) const { return names[activity.name]; }
  const HostEvent& at(HostEventPlace place) const {
    return threads[place.thread].events[place.event];
  }
};

/// Puts the events in order, clips durations that the next activity of the stream shows to be
/// wrong, finds the launch of each activity by its correlation, and the collective of each kernel
/// that says nothing of it by the call that launched it. Readers end with it.
Recording put_in_order(Recording recording);

}  // namespace stepsim
