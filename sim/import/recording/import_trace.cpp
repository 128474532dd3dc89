// Recordings of a real run as a scenario, as far as they can tell.
//
// One rank shows what all do: that whose file comes first. What it shows is written; what a
// scenario needs besides is assumed, and listed.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/machine.hpp"
#include "sim/import/recording/proposed_model.hpp"
#include "sim/import/recording/recorded_device.hpp"
#include "sim/import/recording/recorded_model.hpp"
#include "sim/import/recording/recorded_run.hpp"
#include "sim/import/recording/recorded_split.hpp"
#include "sim/import/written_name.hpp"
#include "sim/recording/files/looks_like_recording.hpp"
#include "sim/recording/files/read_recordings.hpp"
#include "sim/recording/files/recording_files.hpp"

namespace stepsim {
namespace {

/// What stands in where no shape tells it.
constexpr std::int64_t kSequenceLength = 2048;

/// The first recording, and how many there are.
struct FirstRank {
  Recording recording;
  int ranks = 1;
};

FirstRank first_rank(const ImportOptions& options) {
  if (options.file == "-")
    throw UserError(
        "import trace: a recording is read from a file or a folder, not from standard input");
  const RecordingFiles files = recording_files(options.file);
  std::vector<Recording> in_first = read_recordings(files.recordings.front());
  const std::size_t ranks = std::max(in_first.size(), files.recordings.size());
  return {std::move(in_first.front()), static_cast<int>(ranks)};
}

/// Calls of the median step, which are halves where steps differ.
std::string times_text(double calls) { return fmt::format("{:.0f}", calls); }

/// How many experts a layer of the model has; 0: none.
std::int64_t experts_of(const std::string& model, const Library& library) {
  const Model named = load_model(model, library);
  const auto* shape = std::get_if<Transformer>(&named.shape);
  return shape == nullptr || !shape->experts ? 0 : shape->experts->count;
}

class TraceImport {
 public:
  explicit TraceImport(const ImportOptions& options)
      : options_(options),
        draft_(fmt::format("A recording, {}, read by stepsim import trace.", options.file)),
        library_(library_for("scenario.yaml")),
        first_(first_rank(options)),
        counts_(first_.recording) {
    const KernelKinds kinds = load_kernel_kinds(library_);
    run_ = run_in(counts_, kinds);
    split_ = split_in(counts_, kinds, first_.ranks);
    seen_ = model_in(counts_, run_.passes);
    if (seen_.layers > 0) seen_.layers *= split_.stages;
    // Shards of gradients are reduced in each pass, whole ones in the last.
    const bool reduces_each = split_.reduce_scatters > 0 && run_.passes > 1;
    seen_.parameters = split_.gradients / (reduces_each ? run_.passes : 1);
    if (seen_.kind == RecordedKind::unknown && run_.has_convolutions)
      seen_.kind = RecordedKind::resnet;
    seen_.has_experts = split_.dispatches;
  }

  Draft write() {
    refuse_inference();
    choose_machine();
    note_groups();
    choose_model();
    choose_batch();
    const std::string sharding = this->sharding();
    draft_.line("framework: " + framework(sharding));
    draft_.line("model: " + written_name(model_.model, options_));
    draft_.line("cluster: " + cluster_text(machine_));
    write_training();
    write_parallelism(sharding);
    write_host();
    write_loader();
    return std::move(draft_);
  }

 private:
  bool is_transformer() const { return model_.kind == RecordedKind::transformer; }
  bool is_named_model() const { return is_transformer() && !model_.model.starts_with('{'); }
  const Recording& recording() const { return first_.recording; }

  void refuse_inference() {
    if (recording().activities.empty() && !recording().is_of_core && !run_.has_operators)
      throw UserError(
          fmt::format("{}: neither kernels nor operators were recorded: nothing says "
                      "what was trained",
                      quoted_path(recording().file)));
    const bool may_train =
        run_.trains || split_.reduce_scatters > 0 || split_.dispatches || !run_.has_operators;
    if (!may_train)
      throw UserError(
          fmt::format("{}: neither a backward pass nor an optimizer was recorded: "
                      "inference is not simulated",
                      quoted_path(recording().file)));
  }

  /// A GPU that is known stands for its cluster; the network between nodes is nowhere recorded.
  void choose_machine() {
    ImportOptions options = options_;
    const KnownDevice device = device_named(recording().device);
    if (!options.cluster && !device.cluster.empty()) {
      options.cluster = std::string(device.cluster);
      draft_.assume(
          {"cluster", *options.cluster,
           fmt::format("it has the recorded {}; the network is not recorded", recording().device),
           "--cluster NAME"});
      if (!device.note.empty()) draft_.note(recording().device, std::string(device.note));
    } else if (!options.cluster) {
      const std::string name =
          recording().device.empty() ? "a GPU without a name" : recording().device;
      draft_.note(name, recording().is_of_core
                            ? "the GPU of the cluster; stepsim calibrate cpu writes one of this CPU"
                            : "no file of calib/gpus/ is of it, the GPU of the cluster stands in");
    }
    StatedMachine stated;
    stated.gpus = split_.world;
    stated.needed = split_.tensor * split_.context * split_.stages;
    stated.why = split_.is_world_known ? "recorded, not how many a node has"
                                       : "seen in groups and files; the recording does not say it";
    machine_ = machine_for(options, stated, draft_);
  }

  void note_groups() {
    constexpr std::size_t kMost = 4;
    for (std::size_t i = 0; i < std::min(kMost, split_.unplaced.size()); ++i)
      draft_.note(split_.unplaced[i], "no split");
    if (!counts_.marks_steps() && counts_.optimizer_steps() == 0)
      draft_.note("no step is marked", "all that was recorded is taken for one step");
  }

  void choose_model() {
    if (options_.model) {
      model_ = stated_model(*options_.model, library_);
      return;
    }
    // Tensor ranks have parts of each matrix, which other widths would be.
    RecordedModel seen = seen_;
    if (split_.tensor > 1) seen.ffn = seen.heads = seen.kv_heads = seen.vocabulary = 0;
    const int parts = split_.tensor * split_.stages;
    model_ = propose_model(seen, parts, library_, draft_);
  }

  std::int64_t recorded_or(std::int64_t recorded, std::int64_t other, Assumption assumption) {
    if (recorded > 0) return recorded;
    assumption.value = std::to_string(other);
    draft_.assume(std::move(assumption));
    return other;
  }

  void choose_batch() {
    if (options_.sequence_length) {
      length_ = *options_.sequence_length;
    } else if (is_transformer()) {
      const std::int64_t most = model_.positions > 0 ? model_.positions : kSequenceLength;
      length_ = recorded_or(seen_.sequence_length, most,
                            {"sequence length", "", no_shapes(), "--sequence-length TOKENS"});
    }
    micro_ = options_.micro_batch > 0
                 ? options_.micro_batch
                 : recorded_or(seen_.micro_batch, is_transformer() ? 1 : 32,
                               {"micro-batch", "", no_shapes(), "--micro-batch N"});
    const std::int64_t each = micro_ * split_.data();
    std::int64_t passes = options_.accumulation > 0 ? options_.accumulation : run_.passes;
    if (passes == 0 && options_.global_batch > 0) passes = options_.global_batch / each;
    if (passes == 0)
      passes = recorded_or(
          0, split_.stages > 1 ? 4LL * split_.stages : 1,
          {"accumulation", "", "nothing that is recorded repeats in a step", "--accumulation N"});
    if (!run_.marks_agree && options_.accumulation == 0)
      draft_.assume({"accumulation", std::to_string(passes),
                     fmt::format("a step has {}", fmt::join(run_.marks, ", ")),
                     "--accumulation N"});
    global_ = options_.global_batch > 0 ? options_.global_batch : each * passes;
    if (global_ % each != 0)
      throw UserError(
          fmt::format("a global batch of {} is no whole number of passes of {} x {} "
                      "data-parallel ranks",
                      global_, micro_, split_.data()));
  }

  std::string no_shapes() const {
    return recording().shapes.empty() ? "sizes of tensors were not recorded (record_shapes=True)"
                                      : "no recorded size tells it";
  }

  /// FSDP gathers before forward and before backward passes, so that there are two gathers for each
  /// reduction; with parameters kept, or an optimizer that is sharded alone, there is one.
  std::string sharding() {
    // Tables are exchanged by reduce-scatters, too.
    const bool has_tables = model_.kind == RecordedKind::dlrm;
    if (split_.data() * split_.context == 1 || split_.reduce_scatters == 0 || has_tables)
      return "ddp";
    const bool gathers_twice = split_.all_gathers >= 1.5 * split_.reduce_scatters;
    const std::string calls =
        fmt::format("{} all-gathers and {} reduce-scatters a step", times_text(split_.all_gathers),
                    times_text(split_.reduce_scatters));
    const bool is_fsdp =
        run_.wrapper == RecordedWrapper::fsdp1 || run_.wrapper == RecordedWrapper::fsdp2;
    std::string sharding = gathers_twice ? "zero3" : is_fsdp ? "zero2" : "zero1";
    if (!is_fsdp) draft_.assume({"sharding", sharding, calls, "parallelism.data.sharding"});
    return sharding;
  }

  std::string framework(const std::string& sharding) {
    if (split_.is_megatron) return "megatron";
    if (run_.wrapper == RecordedWrapper::fsdp1) return "pytorch-fsdp1";
    const bool is_fsdp = run_.wrapper == RecordedWrapper::fsdp2 || sharding == "zero3";
    return is_fsdp ? "pytorch-fsdp2" : "pytorch-ddp";
  }

  std::string precision() {
    if (options_.precision) return *options_.precision;
    if (!run_.precision.empty()) return run_.precision;
    const std::string usual = recording().is_of_core ? "fp32" : "bf16";
    draft_.assume({"precision", usual, "names of kernels do not tell it", "--precision NAME"});
    return usual;
  }

  void write_training() {
    const std::string precision = this->precision();
    Entries e;
    if (length_ > 0) e.push_back(fmt::format("sequence_length: {}", length_));
    e.push_back(fmt::format("global_batch: {}", global_));
    e.push_back(fmt::format("micro_batch: {}", micro_));
    e.push_back("precision: " + precision);
    const bool is_narrow = precision != "fp32" && precision != "tf32";
    if (is_narrow && split_.bytes_of_a_gradient == 4) e.emplace_back("gradients: fp32");
    if (is_narrow && split_.bytes_of_a_gradient == 2)
      e.push_back(fmt::format("gradients: {}", precision == "fp16" ? "fp16" : "bf16"));
    write_optimizer(e);
    if (run_.recomputed > 0.5) e.emplace_back("recompute: full");
    if (run_.recomputed > 0 && run_.recomputed <= 0.9)
      draft_.note(fmt::format("{:.0f} % of forward operators are repeated", run_.recomputed * 100),
                  run_.recomputed > 0.5 ? "all of them" : "none of them");
    if (run_.is_compiled) e.emplace_back("fusion: compiled");
    if (is_transformer()) e.push_back("attention: " + attention());
    draft_.map("training", e);
  }

  std::string attention() {
    const std::string& seen = run_.attention;
    if (seen == kUnfusedAttention || has_attention(machine_.cluster.gpu, seen)) return seen;
    const std::string usual = torch_attention(machine_.cluster.gpu);
    draft_.assume({"attention", usual,
                   seen.empty() ? "no kernel of it was recorded"
                                : fmt::format("{} is not in the GPU's profile", seen),
                   "training.attention"});
    return usual;
  }

  void write_optimizer(Entries& e) {
    const std::string& name = run_.optimizer;
    if (name.empty()) {
      draft_.assume(
          {"optimizer", "adam", "no optimizer's step was recorded", "training.optimizer"});
    } else if (name.find("Adam") != name.npos) {
      e.emplace_back("optimizer: adam");
    } else if (name == "SGD") {
      e.emplace_back("optimizer: momentum");
      draft_.assume(
          {"momentum", "yes", "a recorded SGD may have one or not", "training.optimizer"});
    } else {
      e.emplace_back("optimizer: adam");
      draft_.note("optimizer " + name, "adam");
    }
    if (!run_.optimizer_kernels.empty()) {
      const bool is_foreach = run_.optimizer_kernels == "foreach";
      e.push_back(fmt::format("optimizer_kernels: {}", is_foreach ? "foreach" : "fused"));
    } else if (recording().is_of_core) {
      e.emplace_back("optimizer_kernels: per_tensor");
    }
  }

  void write_parallelism(const std::string& sharding) {
    draft_.line("parallelism:");
    if (split_.tensor > 1) draft_.line(fmt::format("  tensor: {}", split_.tensor));
    if (split_.context > 1) draft_.map("  context", {fmt::format("degree: {}", split_.context)});
    write_experts();
    if (split_.stages > 1) {
      draft_.map("  pipeline", {fmt::format("stages: {}", split_.stages)});
      draft_.assume({"schedule", "1f1b", "transfers do not tell in which order stages work",
                     "parallelism.pipeline.schedule"});
    }
    Entries data{"sharding: " + sharding};
    const bool has_groups = split_.shards > 0 && split_.shards < split_.data();
    if (has_groups && split_.data() % split_.shards == 0)
      data.push_back(fmt::format("shard_degree: {}", split_.shards));
    draft_.map("  data", data);
  }

  /// A model without experts has nothing to deal out. DeepEP's kernels do not say their group.
  void write_experts() {
    const std::int64_t experts = is_named_model() ? experts_of(model_.model, library_) : 0;
    if (experts > 0 && (split_.expert > 1 || split_.dispatches)) {
      std::int64_t degree = split_.expert;
      if (degree == 1) {
        degree = std::gcd(experts, std::int64_t{split_.data()} * split_.context);
        draft_.assume({"expert ranks", std::to_string(degree),
                       "DeepEP's kernels do not say among how many ranks they are",
                       "parallelism.expert.degree"});
      }
      Entries e{fmt::format("degree: {}", degree)};
      if (split_.dispatches) e.emplace_back("dispatcher: deepep");
      draft_.map("  expert", e);
    } else if (split_.expert > 1 || split_.dispatches) {
      draft_.note("exchanges of experts' tokens", "no experts, for the model has none");
    } else if (split_.exchanges_among_all && model_.kind != RecordedKind::dlrm) {
      draft_.note("all-to-alls among all ranks", "no exchange");
    }
  }

  void write_host() {
    if (run_.replays_graphs) draft_.line("host: {mode: graph}");
    if (recording().is_of_core && options_.cluster) draft_.line("host: {launch: 0 us}");
  }

  /// Each sample takes its share of what the loader in the process took for a batch.
  void write_loader() {
    if (run_.loader == RecordedLoader::none) return;
    if (run_.loader == RecordedLoader::with_workers) {
      draft_.assume({"loader", "it keeps up", "a recording does not say how many workers it has",
                     "data.workers"});
      return;
    }
    const double sample_s = run_.loader_s / static_cast<double>(micro_);
    draft_.map("data", {"workers: 0", fmt::format("decode: {:.6g} us", sample_s * 1e6),
                        "sample_size: 8 B", "storage: page_cache"});
    draft_.assume({"samples", "8 B in the page cache",
                   "their size is not recorded; all of the "
                   "loader's time is taken for decoding",
                   "data.sample_size"});
  }

  const ImportOptions& options_;
  Draft draft_;
  Library library_;
  FirstRank first_;
  StepCounts counts_;
  RecordedRun run_;
  RecordedSplit split_;
  RecordedModel seen_;
  ProposedModel model_;
  Machine machine_;
  std::int64_t length_ = 0, micro_ = 1, global_ = 1;
};

Draft import_trace(const ImportOptions& options) { return TraceImport(options).write(); }

/// Its text is not looked at: `explain` is what a recording wants where a scenario was asked for.
bool is_no_text(const std::string&, const std::string&) { return false; }

bool is_trace(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return true;
  if (!looks_like_recording(path)) return false;
  // TOML begins as a list, too, and binary files that no profiler writes are others' to refuse.
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4096> head{};
  file.read(head.data(), head.size());
  const std::string_view begin(head.data(), static_cast<std::size_t>(file.gcount()));
  const bool is_list = begin.starts_with('[') && begin.find("\"ph\"") != begin.npos;
  return is_list || begin.starts_with('{') || begin.starts_with("\x1f\x8b") ||
         begin.starts_with("SQLite format 3");
}

const Registered<Importer> registered{
    {.name = "trace",
     .description = "recordings of a real run: PyTorch's profiler, Nsight Systems (SQLite)",
     .options = {"--cluster", "--nodes", "--model", "--sequence-length", "--precision",
                 "--micro-batch", "--accumulation", "--global-batch", "--format"},
     .recognises = is_no_text,
     .recognises_path = is_trace,
     .scenario = import_trace}};

}  // namespace
}  // namespace stepsim
