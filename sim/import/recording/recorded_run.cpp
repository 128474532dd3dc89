// Finds how a rank was run by names of kernels, annotations and operators.
#include "sim/import/recording/recorded_run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/core/words.hpp"
#include "sim/recording/gpu_time.hpp"
#include "sim/recording/idle_time.hpp"
#include "sim/recording/marks.hpp"
#include "sim/recording/phase.hpp"
#include "sim/recording/products/product_type.hpp"

namespace stepsim {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

/// Parts of names of kernels of attention, in lower case.
constexpr std::array<Word, 8> kAttentionWords{{{"flashattnfwdsm90", "flash3"},
                                               {"flashattnbwdsm90", "flash3"},
                                               {"device_kernel<flash", "flash3"},
                                               {"compute_attn_ws", "flash3"},
                                               {"sdpa", "cudnn"},
                                               {"flash", "flash2"},
                                               {"attn_fwd", "flash2"},
                                               {"fmha", "flash1"}}};

template <std::size_t n>
std::string_view said_by(const std::array<Word, n>& words, const std::string& lower_case_name) {
  for (const auto& [word, meaning] : words) {
    if (lower_case_name.find(word) != std::string::npos) return meaning;
  }
  return "";
}

/// What names say, by the time of their kernels.
class Votes {
 public:
  void add(std::string_view said, double weight) {
    if (!said.empty()) votes_[std::string(said)] += weight;
    total_ += said.empty() ? 0 : weight;
  }
  std::string winner() const {
    const auto most =
        std::ranges::max_element(votes_, {}, [](const auto& vote) { return vote.second; });
    return most == votes_.end() ? "" : most->first;
  }
  double share_of(const std::string& said) const {
    const auto found = votes_.find(said);
    return found == votes_.end() ? 0 : found->second / total_;
  }

 private:
  std::map<std::string, double> votes_;
  double total_ = 0;
};

std::string type_named(const std::string& name) {
  if (name == "c10::BFloat16") return "bf16";
  if (name == "c10::Half") return "fp16";
  return name == "float" ? "fp32" : "";
}

/// Types of products of matrices and of convolutions, which run behind autocast's casts.
Votes types_of_operators(const Recording& recording) {
  Votes votes;
  for (const RecordedThread& thread : recording.threads) {
    for (const ShapedCall& call : thread.shaped_calls) {
      const RecordedShape& shape = recording.shapes[call.shape];
      const std::string& name = recording.names[shape.name];
      if (name != "aten::linear" && !name.starts_with("aten::embedding"))
        votes.add(type_named(shape.type), 1);
    }
  }
  return votes;
}

struct KernelVotes {
  Votes products, attention, others;
  bool has_softmax = false, has_convolutions = false, has_update = false;
  bool has_fused_update = false, has_foreach_update = false;
};

KernelVotes votes_of_kernels(const Recording& recording, const KernelKinds& kinds) {
  KernelVotes votes;
  const KindByName kind_of = kinds_of_names(recording, kinds);
  std::map<std::uint32_t, double> time_of;
  for (const GpuActivity& activity : recording.activities) {
    if (activity.work == GpuWork::kernel)
      time_of[activity.name] += static_cast<double>(activity.time.length());
  }
  for (const auto& [index, time] : time_of) {
    const std::string name = in_lower_case(recording.names[index]);
    const KernelKind kind = kind_of[index];
    if (kind != KernelKind::communication && kind != KernelKind::optimizer)
      (multiplies(kind) ? votes.products : votes.others).add(product_type_in(name), time);
    if (kind == KernelKind::attention) votes.attention.add(said_by(kAttentionWords, name), time);
    votes.has_convolutions |= kind == KernelKind::convolution;
    // Other kernels for lists of tensors copy or scale them, in inference, too.
    votes.has_update |= name.find("adam") != name.npos || name.find("sgd") != name.npos;
    votes.has_softmax |= kind == KernelKind::softmax;
    votes.has_fused_update |= kind == KernelKind::optimizer && name.find("fused") != name.npos;
    votes.has_foreach_update |= name.find("multi_tensor_apply") != name.npos;
  }
  return votes;
}

/// Sizes are recorded with the types that tensors have, of which tf32 is none, and products in fp8
/// are not among them.
std::string precision_of(const Recording& recording, const KernelVotes& kernels) {
  constexpr double kSomeFp8 = 0.2;  // attention and small products stay in bf16
  if (kernels.products.share_of("fp8") > kSomeFp8) return "fp8";
  const std::string type = types_of_operators(recording).winner();
  const std::string said = kernels.products.winner();
  if (type == "fp32" && said == "tf32") return said;
  if (!type.empty()) return type;
  return said.empty() ? kernels.others.winner() : said;
}

bool is_loss(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kLosses{
      "aten::cross_entropy_loss",   "aten::nll_loss",
      "aten::nll_loss_nd",          "aten::mse_loss",
      "aten::binary_cross_entropy", "aten::binary_cross_entropy_with_logits"};
  return std::ranges::find(kLosses, name) != kLosses.end();
}

bool is_wrapper(std::string_view name) {
  return name == "DistributedDataParallel.forward" || name == "FullyShardedDataParallel.forward" ||
         name.starts_with("FSDP::root_pre_forward");
}

/// Several marks may be in a pass (two losses, two wrapped modules), or one for several of them (a
/// batch that the loop cuts): the middle counts, the smaller one of two.
void count_passes(const StepCounts& counts, RecordedRun& run) {
  std::vector<int> seen;
  const auto mark = [&](const char* what, const StepCounts::Which& which) {
    const int number = static_cast<int>(counts.outermost(which));
    if (number < 1) return;
    seen.push_back(number);
    run.marks.push_back(fmt::format("{} x {}", number, what));
  };
  mark("a batch of the loader", marks_loader);
  mark("a wrapped module's forward", is_wrapper);
  mark("a loss", is_loss);
  if (seen.empty()) return;
  std::ranges::sort(seen);
  run.passes = seen[(seen.size() - 1) / 2];
  run.marks_agree = seen.front() == seen.back();
}

void read_loader(const StepCounts& counts, RecordedRun& run) {
  std::vector<double> times;
  const Recording& recording = counts.recording();
  for (const RecordedThread& thread : recording.threads) {
    for (const HostEvent& event : thread.events) {
      const std::string& name = recording.name_of(event);
      if (!marks_loader(name)) continue;
      const bool is_in_process = name.find("_SingleProcess") != name.npos;
      run.loader = is_in_process ? RecordedLoader::in_process : RecordedLoader::with_workers;
      times.push_back(static_cast<double>(event.time.length()) * 1e-9);
    }
  }
  if (times.empty() || run.loader != RecordedLoader::in_process) return;
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  run.loader_s = times[times.size() / 2];
}

/// "AdamW" of "Optimizer.step#AdamW.step".
std::string optimizer_in(const Recording& recording) {
  constexpr std::string_view kMark = "Optimizer.step#";
  for (const std::string& name : recording.names) {
    if (name.starts_with(kMark))
      return name.substr(kMark.size(), name.find('.', kMark.size()) - kMark.size());
  }
  return "";
}

double recomputed_share(const StepCounts& counts) {
  for (const char* name :
       {"aten::conv2d", "aten::scaled_dot_product_attention", "aten::layer_norm", "aten::linear"}) {
    const double forward = counts.forward(name);
    if (forward > 0) return counts.recomputed(name) / forward;
  }
  return counts.has(
             [](std::string_view name) { return phase_said_by(name) == StepPhase::recompute; })
             ? 1
             : 0;
}

RecordedWrapper wrapper_in(const StepCounts& counts) {
  const auto begins = [&](std::string_view with) {
    return counts.has([&](std::string_view name) { return name.starts_with(with); });
  };
  if (begins("FSDP::")) return RecordedWrapper::fsdp2;
  if (begins("FullyShardedDataParallel.")) return RecordedWrapper::fsdp1;
  return begins("DistributedDataParallel.") ? RecordedWrapper::ddp : RecordedWrapper::none;
}

bool says_backward(std::string_view name) {
  return phase_said_by(name) == StepPhase::backward || name.starts_with("Optimizer.step");
}

bool is_of_compiler(std::string_view name) {
  return name.find("CompiledFunction") != name.npos || name.find("Torch-Compiled") != name.npos ||
         name.starts_with("triton_poi_fused") || name.starts_with("triton_red_fused");
}

}  // namespace

RecordedRun run_in(const StepCounts& counts, const KernelKinds& kinds) {
  const Recording& recording = counts.recording();
  RecordedRun run;
  run.wrapper = wrapper_in(counts);
  read_loader(counts, run);
  count_passes(counts, run);
  const KernelVotes kernels = votes_of_kernels(recording, kinds);
  run.precision = precision_of(recording, kernels);
  run.attention = kernels.attention.winner();
  if (run.attention.empty() && kernels.has_softmax) run.attention = "unfused";
  run.optimizer = optimizer_in(recording);
  if (kernels.has_foreach_update) run.optimizer_kernels = "foreach";
  if (kernels.has_fused_update) run.optimizer_kernels = "fused";
  run.recomputed = recomputed_share(counts);
  run.is_compiled = counts.has(is_of_compiler);
  run.replays_graphs = counts.has(replays_graph);
  run.trains = kernels.has_update || counts.has(says_backward);
  run.has_convolutions = kernels.has_convolutions;
  run.has_operators = counts.has([](std::string_view name) { return name.starts_with("aten::"); });
  return run;
}

}  // namespace stepsim
