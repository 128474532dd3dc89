// Finds the calls of a rank by their kernels, and what their libraries say of them.
#include "sim/recording/communication_call.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

namespace stepsim {
namespace {

/// In the order in which they are looked for: reduce_scatter is no reduce.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kOperations{{
    {"allreduce", "all_reduce"},
    {"allgather", "all_gather"},
    {"reducescatter", "reduce_scatter"},
    {"alltoall", "all_to_all"},
    {"broadcast", "broadcast"},
    {"sendrecv", "send_receive"},
    {"dispatch", "dispatch"},  // of experts' tokens: DeepEP, NVSHMEM
    {"combine", "combine"},
    {"barrier", "barrier"},
    {"gather", "gather"},
    {"scatter", "scatter"},
    {"reduce", "reduce"},
    {"send", "send"},
    {"recv", "receive"},
}};

/// Lower case, without what does not count in names: `_allgather_base` and AllGather are one.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

/// Words of descriptions of groups: those of Megatron, DeepSpeed, torchtitan and PyTorch's meshes.
/// The first that a description has counts: groups of data ranks are named after what they leave
/// out, too (DATA_PARALLEL_GROUP_WITH_CP, mesh_dp_shard_cp, EXPERT_DATA_PARALLEL_GROUP).
constexpr std::array<std::pair<std::string_view, Axis>, 18> kGroupWords{{
    {"data", Axis::data},
    {"dp", Axis::data},
    {"ddp", Axis::data},
    {"fsdp", Axis::data},
    {"hsdp", Axis::data},
    {"replicate", Axis::data},
    {"shard", Axis::data},
    {"tensor", Axis::tensor},
    {"tp", Axis::tensor},
    {"context", Axis::context},
    {"cp", Axis::context},
    {"sequence", Axis::context},
    {"ulysses", Axis::context},
    {"expert", Axis::expert},
    {"ep", Axis::expert},
    {"pipeline", Axis::pipeline},
    {"pp", Axis::pipeline},
    {"embedding", Axis::pipeline},  // Megatron: first and last stage share one
}};

/// Words between anything that is no letter: "TENSOR_MODEL_PARALLEL_GROUP", "mesh_tp".
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

double bytes_of(const RecordedCollective& collective) {
  return std::max(collective.in_elements, collective.out_elements) * collective.bytes_per_element;
}

int step_at(const std::vector<RecordedStep>& steps, Nanoseconds moment) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (moment >= steps[i].window.start && moment < steps[i].window.end) return static_cast<int>(i);
  }
  return -1;
}

CommunicationKind kind_of(const Recording& recording, const GpuActivity& activity) {
  CommunicationKind kind;
  RecordedCollective said;
  if (activity.collective != kNoCollective) said = recording.collectives[activity.collective];
  kind.operation = operation_named(said.operation);
  if (kind.operation.empty()) kind.operation = operation_named(recording.name_of(activity));
  if (kind.operation.empty()) kind.operation = said.operation.empty() ? "other" : said.operation;
  kind.group = said.group;
  kind.group_description = said.group_description;
  kind.ranks = said.ranks;
  kind.group_size = said.group_size > 0 ? said.group_size : static_cast<int>(said.ranks.size());
  kind.axis = axis_of(said, kind.operation);
  return kind;
}

}  // namespace

std::string operation_named(std::string_view name) {
  const std::string letters = letters_of(name);
  for (const auto& [word, operation] : kOperations) {
    if (letters.find(word) != std::string::npos) return std::string(operation);
  }
  return "";
}

Axis axis_of(const RecordedCollective& collective, const std::string& operation) {
  const std::vector<std::string> words = words_in(collective.group_description);
  for (const auto& [word, axis] : kGroupWords) {
    if (std::ranges::find(words, word) != words.end()) return axis;
  }
  if (operation == "send" || operation == "receive" || operation == "send_receive")
    return Axis::pipeline;
  if (operation == "dispatch" || operation == "combine" || operation == "all_to_all")
    return Axis::expert;
  return Axis::data;
}

bool binds_ends(const CommunicationKind& kind) {
  return kind.operation == "all_reduce" || kind.operation == "all_gather" ||
         kind.operation == "reduce_scatter" || kind.operation == "barrier";
}

bool has_root(const CommunicationKind& kind) {
  return kind.operation == "broadcast" || kind.operation == "reduce" ||
         kind.operation == "gather" || kind.operation == "scatter";
}

double bus_factor(const std::string& operation, int ranks) {
  if (ranks < 2) return 0;
  const double share = (ranks - 1.0) / ranks;
  if (operation == "all_reduce") return 2 * share;
  if (operation == "all_gather" || operation == "reduce_scatter" || operation == "all_to_all" ||
      operation == "gather" || operation == "scatter")
    return share;
  return 1;
}

namespace {

/// The kinds of a recording's calls, each kept once.
class KindsOfCalls {
 public:
  explicit KindsOfCalls(const Recording& recording) : recording_(recording) {}

  std::size_t index_of(const GpuActivity& activity) {
    const auto [at, is_new] =
        index_.try_emplace(std::pair{activity.name, activity.collective}, kinds_.size());
    if (!is_new) return at->second;
    const CommunicationKind kind = kind_of(recording_, activity);
    const auto known = std::ranges::find(kinds_, kind);
    at->second = static_cast<std::size_t>(known - kinds_.begin());
    if (known == kinds_.end()) kinds_.push_back(kind);
    return at->second;
  }
  std::vector<CommunicationKind> take() { return std::move(kinds_); }

 private:
  const Recording& recording_;
  std::vector<CommunicationKind> kinds_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index_;
};

}  // namespace

RankCommunication communication_of(const Recording& recording, const KindByName& kinds,
                                   const GpuRows& rows, const std::vector<RecordedStep>& steps,
                                   Interval window) {
  RankCommunication found;
  KindsOfCalls calls(recording);
  Nanoseconds taken_until = window.start;
  for (const GpuActivity& activity : recording.activities) {
    if (!communicates(activity, kinds)) continue;
    const Interval time{std::max(activity.time.start, window.start),
                        std::min(activity.time.end, window.end)};
    if (time.length() == 0) continue;
    CommunicationCall call{.time = activity.time};
    const IntervalSet own{{std::max(time.start, taken_until), time.end}};
    if (own.front().length() > 0) call.exposed = difference(own, clipped(rows.compute, time));
    taken_until = std::max(taken_until, time.end);
    call.kind = calls.index_of(activity);
    if (activity.collective != kNoCollective)
      call.bytes = bytes_of(recording.collectives[activity.collective]);
    call.step = step_at(
        steps, activity.launch ? recording.at(*activity.launch).time.start : activity.time.start);
    found.calls.push_back(std::move(call));
  }
  found.kinds = calls.take();
  return found;
}

}  // namespace stepsim
