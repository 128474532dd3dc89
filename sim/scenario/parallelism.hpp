// How the work of a step is split over ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/parallel_axis.hpp"
#include "sim/scenario/data_parallel.hpp"

namespace stepsim {

/// Layers split into stages.
struct Pipeline {
  int stages = 1;
  std::string schedule = "1f1b";     ///< a name of `stepsim list schedules`
  int chunks = 1;                    ///< model chunks per stage, as many as the schedule runs
  std::vector<std::int64_t> layers;  ///< per part (chunk-major) where uneven; empty: equal parts
  bool overlap_p2p = false;     ///< send and receive beside compute; default: only when interleaved
  bool batch_p2p_sync = false;  ///< the host waits for transfers before it launches the next pass
  /// tensor ranks send 1/t each and gather in the node (no effect with sequence parallel)
  bool scatter_gather = true;
  bool operator==(const Pipeline&) const = default;
};

/// What passes between context ranks in attention: keys and values, around a ring or gathered, or
/// heads.
enum class ContextKind { ring, all_gather, all_to_all };

/// Sequences split over ranks, in attention too.
struct ContextParallel {
  int degree = 1;
  ContextKind kind = ContextKind::ring;
  bool operator==(const ContextParallel&) const = default;
};

/// How tokens reach their experts: by NCCL's all-to-all, with a row for each expert of a token; by
/// NCCL's all-gather of all tokens; or by kernels of DeepEP or of HybridEP, with a row for each
/// rank, of which one crosses to each node.
enum class Dispatcher { all_to_all, all_gather, deepep, hybrid_ep };

/// Whether a library's own kernels send a token once to each rank or node that has experts of it.
constexpr bool sends_once(Dispatcher dispatcher) { return dispatcher >= Dispatcher::deepep; }

/// SMs that DeepEP sets aside: the default of Buffer.num_sms (deepseek-ai/DeepEP
/// deep_ep/buffer.py), and what DeepSeek-V3 was trained with (arXiv 2412.19437, section 3.2.2).
inline constexpr int kDeepEpSms = 20;
/// SMs of HybridEP: the default of moe_hybridep_num_sms (NVIDIA/Megatron-LM
/// megatron/core/transformer/transformer_config.py, of 2025 and 2026).
inline constexpr int kHybridEpSms = 16;

/// Who splits products of linear layers, so that tensor ranks exchange operands and results beside
/// them: nobody; Transformer Engine, by user buffers; PyTorch, by symmetric memory; or Flux, whose
/// product is one kernel, of which tiles wait for what they need (Chang et al. 2024, arXiv
/// 2406.06858).
enum class SplitProducts { none, user_buffers, async_tp, flux };

/// Experts dealt to ranks: a mesh over the tensor, context and data ranks of a stage.
struct ExpertParallel {
  int degree = 1;
  std::optional<int> tensor;  ///< ranks that share each expert; absent: the tensor-parallel ones
  /// rows of an expert over its fair share, padded; absent: dropless
  std::optional<double> capacity;
  double imbalance = 1;  ///< dropless: rows of the busiest rank over the average
  /// dropless: standard deviation of the experts' rows over their mean, which says what the busiest
  /// rank has (imbalance_of)
  std::optional<double> load_variation;
  Dispatcher dispatcher = Dispatcher::all_to_all;
  bool fp8_dispatch = false;    ///< rows go to their experts in fp8
  std::optional<int> sms;       ///< SMs that exchanges have; absent: see `exchange_sms`
  std::optional<bool> overlap;  ///< exchanges run beside the other pass; absent: where passes join
  bool overlap_shared = false;  ///< shared experts run beside the exchanges of the others
  /// the host waits for the numbers of tokens before it launches what they decide; absent: where no
  /// capacity makes them known
  std::optional<bool> host_waits;
  bool delay_wgrad = false;     ///< experts' weight gradients run beside the exchange behind them
  bool router_fusion = true;    ///< scores, the top k and maps are one kernel or two
  bool permute_fusion = true;   ///< rows are moved by kernels made for it, not by indexing
  bool router_padding = false;  ///< fp8: the routing map is padded, so that rows come in multiples
  bool grouped_kernel = false;  ///< one kernel of a kind does the work of all experts of a rank

  /// SMs that kernels leave to exchanges; nothing: exchanges run on NCCL's channels.
  std::optional<int> exchange_sms() const {
    if (sms || !sends_once(dispatcher)) return sms;
    return dispatcher == Dispatcher::deepep ? kDeepEpSms : kHybridEpSms;
  }
  bool operator==(const ExpertParallel&) const = default;
};

/// Which dimension neighbouring ranks differ in: the fastest first. A dimension that is left out
/// has one rank.
struct RankOrder {
  std::vector<Axis> axes{kOrderedAxes.begin(), kOrderedAxes.end()};
  bool operator==(const RankOrder&) const = default;
};

/// How embedding tables are dealt to the data-parallel ranks: whole, or each table's rows.
enum class EmbeddingSplit { table, row };

/// Which ranks run a DLRM's bottom MLP: each for its own samples, or rank 0 for those of all, which
/// then has tables only where there are few ranks.
enum class BottomMlp { each, first };

/// Up to this many ranks, rank 0 has tables beside the bottom MLP (NVIDIA/DeepLearningExamples
/// PyTorch/Recommendation/DLRM/dlrm/utils/distributed.py, get_device_mapping).
inline constexpr int kMostRanksWithTablesOnFirst = 4;

/// How the work of a step is split over ranks.
struct Parallelism {
  RankOrder order;
  int tensor = 1;
  bool sequence = false;       ///< sequence parallel regions between tensor parallel ones
  bool overlap_tensor = true;  ///< hide backward collectives under weight-gradient GEMMs (Megatron)
  SplitProducts split_products = SplitProducts::none;
  bool dtensor = false;      ///< sequence parallel tensors are copied and kept as PyTorch's are
  bool gather_each = false;  ///< dtensor: linear layers of one input gather it for themselves
  ContextParallel context;
  ExpertParallel expert;
  bool split_tower = false;  ///< tensor ranks split a vision tower, too; false: each has all of it
  EmbeddingSplit embedding = EmbeddingSplit::table;
  BottomMlp bottom_mlp = BottomMlp::each;
  Pipeline pipeline;
  DataParallel data;
  bool operator==(const Parallelism&) const = default;
};

}  // namespace stepsim
