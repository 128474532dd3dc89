// A rank's program: what a framework's training loop issues, step by step.
#include "sim/plan/stage_program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/plan/input.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/optimizer.hpp"
#include "sim/plan/program_writer.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

constexpr TaskIndex kNoTask = ProgramWriter::kNoTask;
constexpr std::uint16_t kNoRow = 0xffff;
constexpr double kMostTasks = 2e7;  // about 2 GB for a rank class
constexpr Bytes kNormBytes{8};      // the squared norm and an overflow flag, fp32 each

/// One chunk of the stage, compiled.
struct ChunkPasses {
  Segment forward, backward, reducing_backward;  ///< the last one also reduces gradients
  Segment first_backward;                        ///< likewise, in the first step of all
  double saved_bytes = 0;
  double parameters = 0;                ///< elements on this rank
  std::optional<std::uint32_t> reduce;  ///< all of its gradients at once
};

class StageWriter {
 public:
  StageWriter(Workshop& shop, const StageShape& shape)
      : shop_(shop),
        shape_(shape),
        scenario_(shop.scenario),
        pipeline_(shop.scenario.parallelism.pipeline),
        strategy_(strategy_of(shop.scenario.parallelism.data.sharding)),
        writer_(shape.stage, shop.scenario.host.launch) {
    host_ = writer_.add_row("host", RowKind::host);
    compute_ = writer_.add_row("compute", RowKind::compute);
    rows_.fill(kNoRow);
    compile();
  }

  Program write() {
    const Schedule& schedule = schedule_of(pipeline_.schedule);
    const auto actions = schedule.order(
        {pipeline_.stages, scenario_.micro_batches(), pipeline_.chunks}, shape_.stage);
    check_size(actions.size());
    if (shape_.loads) input_.emplace(shop_, writer_, host_);
    for (int step = 0; step < scenario_.run.warmup + scenario_.run.steps; ++step) {
      writer_.set_step(step);
      mark_reductions(actions);
      first_step_ = step == 0;
      write_passes(actions);
      end_step();
    }
    return writer_.finish();
  }

 private:
  void compile() {
    const DataParallel& data = scenario_.parallelism.data;
    for (int chunk = 0; chunk < pipeline_.chunks; ++chunk) {
      const auto blocks = blocks_of(scenario_, shop_.graph, shape_.stage, chunk);
      chunks_.push_back(
          {.forward = forward_segment(shop_, shape_, blocks),
           .backward = backward_segment(shop_, shape_, blocks, Reduction::none),
           .reducing_backward = backward_segment(shop_, shape_, blocks, reduction(chunk)),
           .saved_bytes = pass_activations(scenario_, shop_.graph, shape_.stage, chunk).bytes(),
           .parameters = parameters_of(blocks)});
      if (data.rebuild_buckets && reduction(chunk) == Reduction::buckets)
        chunks_.back().first_backward =
            backward_segment(shop_, shape_, blocks, Reduction::one_bucket);
    }
    parameters_ = stage_parameters(scenario_, shop_.graph, shape_.stage);
    writer_.program().resident_bytes = resident_bytes(scenario_, shop_.graph, shape_.stage).bytes();
  }

  /// What a reducing backward pass of the chunk does about gradients.
  Reduction reduction(int chunk) const {
    const DataParallel& data = scenario_.parallelism.data;
    const bool within_pass = data.overlap || strategy_.shards_parameters;
    if (!within_pass || shape_.data.ranks == 1) return Reduction::none;
    const bool later = shape_.stage > 0 || chunk > 0;
    return later && !data.bucket_later_stages ? Reduction::one_bucket : Reduction::buckets;
  }

  double parameters_of(const std::vector<std::size_t>& blocks) const {
    double sum = 0;
    for (const std::size_t block : blocks) sum += shop_.graph.blocks[block].parameters();
    return sum;
  }

  /// A plan that no machine can hold is the user's mistake; better said than met.
  void check_size(std::size_t passes) const {
    std::size_t pieces = 0;
    for (const ChunkPasses& chunk : chunks_) {
      pieces = std::max(
          {pieces, chunk.forward.size(), chunk.backward.size(), chunk.reducing_backward.size()});
    }
    const auto steps = static_cast<std::size_t>(scenario_.run.warmup + scenario_.run.steps);
    const double tasks =
        static_cast<double>(pieces) * static_cast<double>(passes) * static_cast<double>(steps);
    if (tasks <= kMostTasks) return;
    throw UserError(fmt::format(
        "{} passes a step x {} steps x {} tasks a pass = {:.2g} tasks a rank, more than {:.0g}: "
        "simulate fewer steps (run.steps, run.warmup) or micro-batches (training.global_batch)",
        passes, steps, pieces, tasks, kMostTasks));
  }

  /// Passes between which ranks exchange: each by itself, but pairs of forward and backward where
  /// an interleaved schedule does not overlap its transfers (Megatron-LM's
  /// send_forward_backward_recv_forward_backward: with an exchange after each pass the circle of
  /// stages would lock). Where all forward passes are warm-up there are no pairs: the next stage
  /// waits for the last of them before it sends a gradient back.
  std::vector<std::vector<Action>> exchanges(const std::vector<Action>& actions) const {
    const auto backward = [](const Action& action) { return !action.forward; };
    const bool turns_once = std::is_partitioned(actions.rbegin(), actions.rend(), backward);
    const bool pairs = pipeline_.chunks > 1 && !pipeline_.overlap_p2p && !turns_once;
    std::vector<std::vector<Action>> units;
    for (const Action& action : actions) {
      const bool joins = pairs && !action.forward && !units.empty() && units.back().size() == 1 &&
                         units.back().front().forward;
      if (!joins) units.emplace_back();
      units.back().push_back(action);
    }
    return units;
  }

  void write_passes(const std::vector<Action>& actions) {
    const auto units = exchanges(actions);
    std::vector<TaskIndex> received = post_receives(units.front());
    for (std::size_t i = 0; i < units.size(); ++i) {
      std::vector<TaskIndex> next;
      // With overlap the next input travels beside this pass, else it is asked for when the pass is
      // done.
      if (pipeline_.overlap_p2p && i + 1 < units.size()) next = post_receives(units[i + 1]);
      for (std::size_t k = 0; k < received.size(); ++k)
        wait_for(gathered(received[k], units[i][k].micro_batch));
      for (const Action& action : units[i]) write_pass(action);
      for (const Action& action : units[i]) post_send(action);
      if (!pipeline_.overlap_p2p && i + 1 < units.size()) next = post_receives(units[i + 1]);
      received = std::move(next);
    }
  }

  std::vector<TaskIndex> post_receives(const std::vector<Action>& unit) {
    std::vector<TaskIndex> received;
    for (const Action& action : unit) received.push_back(post_receive(action));
    return received;
  }

  void write_pass(const Action& action) {
    const ChunkPasses& chunk = chunks_[static_cast<std::size_t>(action.chunk)];
    micro_batch_ = action.micro_batch;
    if (action.forward && needs_batch(action.chunk)) fetch_batch();
    if (scenario_.host.graph) writer_.spend_on_host(writer_.launch_seconds());
    const auto first = static_cast<TaskIndex>(writer_.program().tasks.size());
    const bool reduces = !action.forward && reduces_after(action);
    const bool at_once = first_step_ && !chunk.first_backward.empty();
    write_segment(action.forward ? chunk.forward
                  : !reduces     ? chunk.backward
                  : at_once      ? chunk.first_backward
                                 : chunk.reducing_backward);
    reduce_chunk(action);
    if (action.forward) {
      writer_.add_memory(first, chunk.saved_bytes, true);
    } else {
      writer_.add_memory(writer_.last_on(compute_), -chunk.saved_bytes, false);
    }
  }

  /// Gradients are reduced after the last backward pass of a chunk; without no_sync also
  /// whenever the rank turns to other weights: after each pass, or when an interleaved order
  /// changes chunks.
  void mark_reductions(const std::vector<Action>& actions) {
    reductions_.clear();
    std::map<int, Action> last;
    const Action* before = nullptr;
    for (const Action& action : actions) {
      if (action.forward) continue;
      const bool turns =
          before != nullptr && (pipeline_.chunks == 1 || before->chunk != action.chunk);
      if (turns && !scenario_.parallelism.data.no_sync)
        reductions_.insert({before->chunk, before->micro_batch});
      last[action.chunk] = action;
      before = &action;
    }
    for (const auto& [chunk, action] : last) reductions_.insert({chunk, action.micro_batch});
  }

  bool reduces_after(const Action& action) const {
    return reductions_.count({action.chunk, action.micro_batch}) > 0;
  }

  /// Whether gradients are reduced by themselves, while nothing is computed.
  bool reduces_alone() const {
    return shape_.data.ranks > 1 && !scenario_.parallelism.data.overlap &&
           !strategy_.shards_parameters;
  }

  /// Without overlap the gradients of passes that reduce are reduced between passes.
  void reduce_chunk(const Action& action) {
    const bool between_passes = reduces_alone() && !scenario_.parallelism.data.no_sync;
    if (action.forward || !between_passes || !reduces_after(action)) return;
    ChunkPasses& chunk = chunks_[static_cast<std::size_t>(action.chunk)];
    if (!chunk.reduce) {
      chunk.reduce =
          add_collective(shop_, strategy_.reduce,
                         Bytes{chunk.parameters * gradient_bytes(scenario_)}, shape_.data);
    }
    wait_for(communicate(Channel::data, *chunk.reduce, {writer_.last_on(compute_)}));
  }

  void write_segment(const Segment& segment) {
    slots_.clear();
    for (const Piece& piece : segment) {
      std::visit([&](const auto& part) { write(part); }, piece);
    }
  }

  void write(const ChainPiece& piece) {
    const Chain& chain = shop_.plan.chains[piece.chain];
    Task task;
    task.kind = TaskKind::chain;
    task.row = compute_;
    task.work = piece.chain;
    task.name = span_name(chain);
    task.micro_batch = micro_batch_;
    task.cause = chain.kernels.front().cause;
    writer_.launch(task, waits_, 0, chain.launch);
    waits_.clear();
  }

  /// "qkv .. projection": a chain is called by its ends.
  std::uint32_t span_name(const Chain& chain) {
    const std::string first = shop_.plan.names[chain.kernels.front().name];
    const std::string last = shop_.plan.names[chain.kernels.back().name];
    return shop_.name(first == last ? first : first + " .. " + last);
  }

  void write(const StartPiece& piece) {
    slots_.resize(std::max(slots_.size(), static_cast<std::size_t>(piece.slot) + 1), kNoTask);
    const TaskIndex after = piece.beside_block ? before_block_[0] : writer_.last_on(compute_);
    slots_[static_cast<std::size_t>(piece.slot)] =
        communicate(piece.channel, piece.operation, {after});
  }

  void write(const BlockPiece&) { before_block_ = {writer_.last_on(compute_), before_block_[0]}; }

  void write(const HoldPiece& piece) {
    const TaskIndex done = before_block_[static_cast<std::size_t>(piece.blocks - 1)];
    if (done != kNoTask) write_host_wait("wait for a free block", {done});
  }

  TaskIndex write_host_wait(const char* name, const std::vector<TaskIndex>& after) {
    Task wait;
    wait.row = host_;
    wait.name = shop_.name(name);
    wait.micro_batch = micro_batch_;
    wait.cause = wait.wait_cause = Cause::launch_gap;
    return writer_.wait_on_host(wait, after);
  }

  void write(const WaitPiece& piece) { wait_for(slots_[static_cast<std::size_t>(piece.slot)]); }

  /// The next chain waits for this task.
  void wait_for(TaskIndex task) {
    if (task != kNoTask) waits_.push_back(task);
  }

  std::uint16_t row_of(Channel channel) {
    std::uint16_t& row = rows_[static_cast<std::size_t>(channel)];
    if (row == kNoRow)
      row = writer_.add_row(name_of(channel), RowKind::communication,
                            group_name_of(counted_as(channel)));
    return row;
  }

  TaskIndex communicate(Channel channel, std::uint32_t operation,
                        const std::vector<TaskIndex>& after) {
    return communicate(
        channel, operation, after,
        between_stages(counted_as(channel)) ? Cause::pipeline_bubble : Cause::sync_wait);
  }

  /// `wait_cause`: what waiting for the other members is called. In graph mode an operation is part
  /// of its pass's one launch.
  TaskIndex communicate(Channel channel, std::uint32_t operation,
                        const std::vector<TaskIndex>& after, Cause wait_cause) {
    Task task;
    task.kind = TaskKind::communicate;
    task.channel = channel;
    task.row = row_of(channel);
    task.work = operation;
    task.name = shop_.plan.operations[operation].name;
    task.micro_batch = micro_batch_;
    task.cause = exposed(counted_as(channel));
    task.wait_cause = wait_cause;
    return writer_.launch(task, after, launch_time(scenario_).seconds());
  }

  /// Without a pipeline all ranks of a replica are tensor ranks, and nothing waits for a stage.
  Channel counted_as(Channel channel) const {
    return channel == Channel::model && pipeline_.stages == 1 ? Channel::tensor : channel;
  }
  static bool between_stages(Channel channel) { return channel >= Channel::model; }
  static Cause exposed(Channel channel) {
    if (channel == Channel::tensor) return Cause::exposed_tensor;
    return between_stages(channel) ? Cause::exposed_pipeline : Cause::exposed_data;
  }

  // --- between stages ---

  int part(int chunk) const { return chunk * pipeline_.stages + shape_.stage; }
  int parts() const { return pipeline_.stages * pipeline_.chunks; }

  Bytes message() const {
    const Parallelism& split = scenario_.parallelism;
    const bool shared = split.sequence || pipeline_.scatter_gather;
    return shop_.graph.boundary / (shared ? split.tensor : 1);
  }

  std::uint32_t transfer_operation(Channel channel) {
    const auto direction =
        static_cast<std::size_t>(channel) - static_cast<std::size_t>(Channel::send_forward);
    auto& operation = transfers_[direction];
    if (operation) return *operation;
    const LinkProfile& link = scenario_.cluster.intra_node;
    Phase phase;
    if (shape_.between_nodes[direction]) {
      phase = {.latency = scenario_.cluster.inter_node->latency, .route_bytes = message()};
    } else {
      phase.inside = link.latency + message() / (link.bandwidth * link.efficiency);
    }
    shop_.plan.operations.push_back(
        {.name = shop_.name(name_of(channel)), .phases = {phase}, .bytes = message()});
    operation = static_cast<std::uint32_t>(shop_.plan.operations.size() - 1);
    return *operation;
  }

  void post_send(const Action& action) {
    const bool at_end =
        action.forward ? part(action.chunk) + 1 == parts() : part(action.chunk) == 0;
    if (at_end) return;
    micro_batch_ = action.micro_batch;
    const Channel channel = action.forward ? Channel::send_forward : Channel::send_backward;
    const TaskIndex sent =
        communicate(channel, transfer_operation(channel), {writer_.last_on(compute_)});
    if (!pipeline_.overlap_p2p) wait_for(sent);
  }

  /// Asks for the input of that pass; returns the task that brings it, if another stage sends it.
  TaskIndex post_receive(const Action& action) {
    const bool at_end =
        action.forward ? part(action.chunk) == 0 : part(action.chunk) + 1 == parts();
    if (at_end) return kNoTask;
    micro_batch_ = action.micro_batch;
    const Channel channel = action.forward ? Channel::receive_forward : Channel::receive_backward;
    return communicate(channel, transfer_operation(channel), {writer_.last_on(compute_)});
  }

  /// Where tensor ranks receive 1/t each they gather the whole right before its pass: any earlier,
  /// and the gather would stand on the tensor row before collectives of the pass that still runs.
  TaskIndex gathered(TaskIndex received, int micro_batch) {
    const Parallelism& split = scenario_.parallelism;
    const bool is_whole = split.tensor == 1 || split.sequence || !pipeline_.scatter_gather;
    if (received == kNoTask || is_whole) return received;
    micro_batch_ = micro_batch;
    return communicate(Channel::tensor, gather_operation(), {received});
  }

  std::uint32_t gather_operation() {
    if (!gather_)
      gather_ =
          add_collective(shop_, CollectiveOp::all_gather, shop_.graph.boundary, shape_.tensor);
    return *gather_;
  }

  // --- input ---

  bool needs_batch(int chunk) const {
    const bool first = part(chunk) == 0;
    const bool labels = part(chunk) + 1 == parts() && pipeline_.stages > 1;
    return scenario_.data.has_value() && (first || labels);
  }

  /// The first tensor rank loads and copies; the others get the batch from it.
  void fetch_batch() {
    TaskIndex batch = input_ ? input_->fetch(micro_batch_) : kNoTask;
    if (shape_.tensor.ranks > 1) {
      batch = communicate(Channel::tensor, broadcast_operation(), {batch}, Cause::batch_wait);
    }
    wait_for(batch);
  }

  /// A ring broadcast carries what a gather of the same bytes does.
  std::uint32_t broadcast_operation() {
    if (broadcast_) return *broadcast_;
    const Bytes bytes =
        scenario_.data->device_bytes * static_cast<double>(scenario_.training.micro_batch);
    broadcast_ = add_collective(shop_, CollectiveOp::all_gather, bytes, shape_.tensor);
    shop_.plan.operations[*broadcast_].name = shop_.name("broadcast of the batch");
    return *broadcast_;
  }

  // --- end of a step ---

  void end_step() {
    micro_batch_ = -1;
    if (scenario_.host.graph) writer_.spend_on_host(writer_.launch_seconds());
    const bool data = shape_.data.ranks > 1;
    if (reduces_alone() && scenario_.parallelism.data.no_sync) reduce_all();
    if (data) wait_for(writer_.last_on(row_of(Channel::data)));
    const double elements = parameters_ * share(strategy_.shards_optimizer, shape_.data.ranks);
    write_chain(norm_kernels(shop_, elements));
    if (scenario_.training.gradient_clipping) agree_on_norm();
    write_chain(update_kernels(shop_, elements,
                               parameters_ * share(strategy_.shards_gradients, shape_.data.ranks)));
    if (data && strategy_.shards_optimizer) gather_parameters();
    waits_.push_back(writer_.last_on(compute_));
    writer_.mark_step_end(write_host_wait("end of step", waits_));
    waits_.clear();
  }

  void reduce_all() {
    const Bytes gradients{parameters_ * gradient_bytes(scenario_)};
    if (!reduce_) reduce_ = add_collective(shop_, strategy_.reduce, gradients, shape_.data);
    communicate(Channel::data, *reduce_, {writer_.last_on(compute_)});
  }

  /// What was updated in shards and does not wait for its block to be gathered.
  double elements_to_gather() const {
    if (!strategy_.shards_parameters) return parameters_;
    double sum = 0;
    for (const std::size_t block : blocks_of(scenario_, shop_.graph, shape_.stage, 0))
      sum += gathered_elements(scenario_, shop_.graph.blocks[block]).persistent;
    return sum;
  }

  void gather_parameters() {
    const double elements = elements_to_gather();
    if (elements == 0) return;
    const Bytes weights{elements * bytes_per_element(scenario_.training.precision)};
    if (!regather_)
      regather_ = add_collective(shop_, CollectiveOp::all_gather, weights, shape_.data);
    wait_for(communicate(Channel::data_gather, *regather_, {writer_.last_on(compute_)}));
  }

  /// All ranks that hold a part of the model sum their squared norms, which also joins all stages.
  void agree_on_norm() {
    if (strategy_.shards_optimizer && shape_.data.ranks > 1) {
      if (!data_norm_)
        data_norm_ = add_collective(shop_, CollectiveOp::all_reduce, kNormBytes, shape_.data);
      wait_for(communicate(Channel::data, *data_norm_, {writer_.last_on(compute_)}));
    }
    if (shape_.model.ranks > 1) {
      if (!model_norm_)
        model_norm_ = add_collective(shop_, CollectiveOp::all_reduce, kNormBytes, shape_.model);
      wait_for(communicate(Channel::model, *model_norm_, {writer_.last_on(compute_)}));
    }
  }

  void write_chain(std::vector<Kernel> kernels) {
    if (kernels.empty()) return;
    write(ChainPiece{add_chain(shop_.plan, std::move(kernels), launch_time(scenario_))});
  }

  Workshop& shop_;
  const StageShape& shape_;
  const Scenario& scenario_;
  const Pipeline& pipeline_;
  const ShardingStrategy& strategy_;
  ProgramWriter writer_;
  std::uint16_t host_ = 0, compute_ = 0;
  std::array<std::uint16_t, kChannels> rows_{};
  std::vector<ChunkPasses> chunks_;
  double parameters_ = 0;
  std::optional<InputRows> input_;
  std::set<std::pair<int, int>>
      reductions_;  // (chunk, micro-batch) of the backward passes that reduce
  std::vector<TaskIndex> waits_, slots_;
  std::int32_t micro_batch_ = -1;
  std::array<std::optional<std::uint32_t>, 4> transfers_;
  std::optional<std::uint32_t> gather_, broadcast_, reduce_, regather_, data_norm_, model_norm_;
  /// What the compute row had before the gathered block that runs, and before the one before it.
  std::array<TaskIndex, 2> before_block_{kNoTask, kNoTask};
  bool first_step_ = false;
};

}  // namespace

Program stage_program(Workshop& shop, const StageShape& shape) {
  return StageWriter(shop, shape).write();
}

}  // namespace stepsim
