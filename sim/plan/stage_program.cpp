// A rank's program: what a framework's training loop issues, step by step.
#include "sim/plan/stage_program.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/plan/groups.hpp"
#include "sim/plan/input.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/optimizer.hpp"
#include "sim/plan/passes.hpp"
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
  std::array<Segment, kPassKinds> segments;           ///< by kind; of those that the order has
  std::array<Segment, kPassKinds> reducing_segments;  ///< those that also reduce gradients
  std::array<Segment, kPassKinds> first_segments;     ///< likewise, in the first step of all
  PassMemory memory;
  StageParameters parameters;  ///< of the chunk alone
  std::array<std::optional<std::uint32_t>, 2> reduce =
      {};  ///< all of its gradients at once, by ParameterGroup
};

class StageWriter {
 public:
  StageWriter(Workshop& shop, const StageShape& shape)
      : shop_(shop),
        shape_(shape),
        scenario_(shop.scenario),
        pipeline_(shop.scenario.parallelism.pipeline),
        strategy_(strategy_of(shop.scenario.parallelism.data.sharding)),
        schedule_(schedule_of(shop.scenario)),
        placement_(placement_of(shop.scenario)),
        actions_(schedule_.order(shape_of(shop.scenario), shape.stage)),
        reduces_(reductions(actions_, shop.scenario.parallelism)),
        writer_(shape.stage, shop.scenario.host.launch) {
    host_ = writer_.add_row("host", RowKind::host);
    compute_ = writer_.add_row("compute", RowKind::compute);
    rows_.fill(kNoRow);
    compile();
  }

  Program write() {
    check_size();
    if (shape_.loads) input_.emplace(shop_, writer_, host_);
    for (int step = 0; step < scenario_.run.warmup + scenario_.run.steps; ++step) {
      writer_.set_step(step);
      first_step_ = step == 0;
      write_passes();
      end_step();
    }
    return writer_.finish();
  }

 private:
  void compile() {
    for (int chunk = 0; chunk < pipeline_.chunks; ++chunk) chunks_.push_back(compiled(chunk));
    parameters_ = stage_parameters(scenario_, shop_.graph, shape_.stage);
    writer_.program().resident_bytes = resident_bytes(scenario_, shop_.graph, shape_.stage).bytes();
  }

  ChunkPasses compiled(int chunk) {
    const auto blocks = blocks_of(scenario_, shop_.graph, shape_.stage, chunk);
    ChunkPasses passes;
    passes.memory = pass_memory(scenario_, shop_.graph, shape_.stage, chunk);
    passes.parameters = chunk_parameters(scenario_, shop_.graph, shape_.stage, chunk);
    for (const Action& action : actions_) {
      const auto kind = static_cast<std::size_t>(action.pass);
      Segment& segment = passes.segments[kind];
      if (action.chunk != chunk || !segment.empty()) continue;
      if (action.pass == PassKind::forward) {
        segment = forward_segment(shop_, shape_, blocks);
        continue;
      }
      const auto backward = [&](Reduction how) {
        return backward_segment(shop_, shape_, blocks, action.pass, how);
      };
      segment = backward(Reduction::none);
      if (!completes_gradients(action.pass)) continue;
      const Reduction how = reduction(chunk);
      passes.reducing_segments[kind] = backward(how);
      if (scenario_.parallelism.data.rebuild_buckets && how == Reduction::buckets)
        passes.first_segments[kind] = backward(Reduction::one_bucket);
    }
    return passes;
  }

  /// What a reducing backward pass of the chunk does about gradients.
  Reduction reduction(int chunk) const {
    const DataParallel& data = scenario_.parallelism.data;
    const bool within_pass = data.overlap || strategy_.shards_parameters;
    if (!within_pass || shape_.data.ranks == 1) return Reduction::none;
    const bool later = shape_.stage > 0 || chunk > 0;
    return later && !data.bucket_later_stages ? Reduction::one_bucket : Reduction::buckets;
  }

  /// A plan that no machine can hold is the user's mistake; better said than met.
  void check_size() const {
    std::size_t pieces = 0;
    for (const ChunkPasses& chunk : chunks_) {
      for (const auto* segments :
           {&chunk.segments, &chunk.reducing_segments, &chunk.first_segments}) {
        for (const Segment& segment : *segments) pieces = std::max(pieces, segment.size());
      }
    }
    const std::size_t passes = actions_.size();
    const auto steps = static_cast<std::size_t>(scenario_.run.warmup + scenario_.run.steps);
    const double tasks =
        static_cast<double>(pieces) * static_cast<double>(passes) * static_cast<double>(steps);
    if (tasks <= kMostTasks) return;
    throw UserError(fmt::format(
        "{} passes a step x {} steps x {} tasks a pass = {:.2g} tasks a rank, more than {:.0g}: "
        "simulate fewer steps (run.steps, run.warmup) or micro-batches (training.global_batch)",
        passes, steps, pieces, tasks, kMostTasks));
  }

  void write_passes() {
    written_ = 0;
    const auto units = exchanges(actions_, schedule_, pipeline_);
    std::vector<TaskIndex> received = post_receives(units.front());
    for (std::size_t i = 0; i < units.size(); ++i) {
      const std::vector<Action>& passes = units[i].passes;
      std::vector<TaskIndex> next;
      // With overlap the next input travels beside this pass, else it is asked for when the pass is
      // done.
      if (pipeline_.overlap_p2p && i + 1 < units.size()) next = post_receives(units[i + 1]);
      for (std::size_t k = 0; k < received.size(); ++k)
        wait_for(gathered(received[k], passes[k].micro_batch));
      for (const Action& action : passes) write_pass(action);
      for (const Action& action : passes) post_send(action);
      if (!pipeline_.overlap_p2p && i + 1 < units.size()) next = post_receives(units[i + 1]);
      write_weight_gradients(units[i]);
      received = std::move(next);
    }
  }

  /// Weight gradients wait for no transfer: they run beside those around them.
  void write_weight_gradients(const Unit& unit) {
    if (unit.weight_gradients.empty()) return;
    const auto waits = std::exchange(waits_, {});
    for (const Action& action : unit.weight_gradients) write_pass(action);
    waits_.insert(waits_.end(), waits.begin(), waits.end());
  }

  std::vector<TaskIndex> post_receives(const Unit& unit) {
    std::vector<TaskIndex> received;
    for (const Action& action : unit.passes) received.push_back(post_receive(action));
    return received;
  }

  void write_pass(const Action& action) {
    const ChunkPasses& chunk = chunks_[static_cast<std::size_t>(action.chunk)];
    const auto kind = static_cast<std::size_t>(action.pass);
    micro_batch_ = action.micro_batch;
    if (action.pass == PassKind::forward && needs_batch(action.chunk)) fetch_batch();
    if (scenario_.host.graph) writer_.spend_on_host(writer_.launch_seconds());
    const auto first = static_cast<TaskIndex>(writer_.program().tasks.size());
    const bool at_once = first_step_ && !chunk.first_segments[kind].empty();
    write_segment(!reduces_[written_] ? chunk.segments[kind]
                  : at_once           ? chunk.first_segments[kind]
                                      : chunk.reducing_segments[kind]);
    if (reduces_[written_]) reduce_chunk(action.chunk);
    ++written_;
    const double change = chunk.memory.change(action.pass).bytes();
    const bool takes = action.pass == PassKind::forward;
    writer_.add_memory(takes ? first : writer_.last_on(compute_), change, takes);
  }

  /// Whether gradients are reduced by themselves, while nothing is computed.
  bool reduces_alone() const {
    return shape_.data.ranks > 1 && !scenario_.parallelism.data.overlap &&
           !strategy_.shards_parameters;
  }

  /// Without overlap the gradients of passes that reduce are reduced between passes.
  void reduce_chunk(int index) {
    if (!reduces_alone() || scenario_.parallelism.data.no_sync) return;
    ChunkPasses& chunk = chunks_[static_cast<std::size_t>(index)];
    const TaskIndex gradients = writer_.last_on(compute_);
    for (const ParameterGroup& group : parameter_groups(shape_))
      wait_for(reduce(group, chunk.parameters, chunk.reduce, gradients));
  }

  using Reductions = std::array<std::optional<std::uint32_t>, 2>;  ///< by ParameterGroup

  /// All gradients of the group at once; nothing where it has none or one rank.
  TaskIndex reduce(const ParameterGroup& group, const StageParameters& parameters,
                   Reductions& operations, TaskIndex after) {
    const Bytes gradients{parameters.of(group.expert) * gradient_bytes(scenario_)};
    if (group.shape.ranks == 1 || gradients == Bytes{0}) return kNoTask;
    auto& operation = operations[group.expert ? 1 : 0];
    if (!operation) operation = add_collective(shop_, strategy_.reduce, gradients, group.shape);
    return communicate(group.reduce, *operation, {after});
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
    slots_[static_cast<std::size_t>(piece.slot)] = communicate(
        piece.channel, piece.operation, piece.beside_block ? before_block_[0] : reached());
  }

  /// What the next kernel would wait for: all that is on the compute row, and the open waits.
  std::vector<TaskIndex> reached() const {
    std::vector<TaskIndex> tasks = waits_;
    tasks.push_back(writer_.last_on(compute_));
    return tasks;
  }

  void write(const BlockPiece&) { before_block_[1] = std::exchange(before_block_[0], reached()); }

  void write(const HoldPiece& piece) {
    const auto& done = before_block_[static_cast<std::size_t>(piece.blocks - 1)];
    if (!done.empty()) write_host_wait("wait for a free block", done);
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
    // Other holders of the parameters may reduce them after other micro-batches.
    const bool of_all =
        (channel == Channel::data || channel == Channel::expert_data) && schedule_.needs.copies > 1;
    task.micro_batch = of_all ? -1 : micro_batch_;
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
    if (channel == Channel::context) return Cause::exposed_context;
    if (channel == Channel::expert) return Cause::exposed_expert;
    return between_stages(channel) ? Cause::exposed_pipeline : Cause::exposed_data;
  }

  // --- between stages ---

  Bytes message() const {
    const Parallelism& split = scenario_.parallelism;
    const bool shared = split.sequence || pipeline_.scatter_gather;
    return shop_.graph.boundary / (shared ? split.tensor : 1);
  }

  std::uint32_t transfer_operation(Channel channel) {
    const std::size_t direction = transfer_index(channel);
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
    const auto to = placement_.receiver(action, shape_.stage);
    if (!to || to->stage == shape_.stage) return;  // a stage hands its own results on
    micro_batch_ = action.micro_batch;
    const Channel channel = action.pass == PassKind::forward
                                ? channel_between(shape_.stage, to->stage, true)
                                : channel_between(to->stage, shape_.stage, false);
    const TaskIndex sent =
        communicate(channel, transfer_operation(channel), {writer_.last_on(compute_)});
    if (!pipeline_.overlap_p2p) wait_for(sent);
  }

  /// Asks for the input of that pass; returns the task that brings it, if another stage sends it.
  TaskIndex post_receive(const Action& action) {
    const auto from = placement_.sender(action, shape_.stage);
    if (!from || from->stage == shape_.stage) return kNoTask;
    micro_batch_ = action.micro_batch;
    const Channel channel = receiver_of(action.pass == PassKind::forward
                                            ? channel_between(from->stage, shape_.stage, true)
                                            : channel_between(shape_.stage, from->stage, false));
    return communicate(channel, transfer_operation(channel), {writer_.last_on(compute_)});
  }

  /// The sender's, between two stages of which the second holds the later part.
  Channel channel_between(int stage, int next, bool forward) const {
    return send_channel(stage, next, pipeline_.stages, forward);
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
    return scenario_.data.has_value() && placement_.needs_batch({shape_.stage, chunk});
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
    for (const ParameterGroup& group : parameter_groups(shape_)) {
      if (group.shape.ranks > 1) wait_for(writer_.last_on(row_of(group.reduce)));
    }
    const double elements = parameters_.kept(strategy_.shards_optimizer);
    write_chain(norm_kernels(shop_, elements));
    if (scenario_.training.gradient_clipping) agree_on_norm();
    write_chain(update_kernels(shop_, elements, parameters_.kept(strategy_.shards_gradients)));
    if (data && strategy_.shards_optimizer) gather_parameters();
    waits_.push_back(writer_.last_on(compute_));
    writer_.mark_step_end(write_host_wait("end of step", waits_));
    waits_.clear();
  }

  void reduce_all() {
    const TaskIndex gradients = writer_.last_on(compute_);
    for (const ParameterGroup& group : parameter_groups(shape_))
      reduce(group, parameters_, reduce_, gradients);
  }

  /// What was updated in shards and does not wait for its block to be gathered.
  double elements_to_gather(bool expert) const {
    if (!strategy_.shards_parameters) return parameters_.of(expert);
    double sum = 0;
    for (const std::size_t block : blocks_of(scenario_, shop_.graph, shape_.stage, 0))
      sum += gathered_elements(scenario_, shop_.graph.blocks[block], expert).persistent;
    return sum;
  }

  void gather_parameters() {
    const TaskIndex updated = writer_.last_on(compute_);
    for (const ParameterGroup& group : parameter_groups(shape_)) {
      const Bytes weights{elements_to_gather(group.expert) *
                          bytes_per_element(scenario_.training.precision)};
      if (group.shape.ranks == 1 || weights == Bytes{0}) continue;
      auto& operation = regather_[group.expert ? 1 : 0];
      if (!operation)
        operation = add_collective(shop_, CollectiveOp::all_gather, weights, group.shape);
      wait_for(communicate(group.gather, *operation, {updated}));
    }
  }

  /// All ranks that hold a part of the model sum their squared norms, which also joins all stages.
  void agree_on_norm() {
    if (strategy_.shards_optimizer && shape_.data.ranks > 1) {
      if (!data_norm_)
        data_norm_ = add_collective(shop_, CollectiveOp::all_reduce, kNormBytes, shape_.data);
      wait_for(communicate(Channel::data, *data_norm_, {writer_.last_on(compute_)}));
    } else if (shape_.expert.ranks > 1) {
      if (!data_norm_)
        data_norm_ = add_collective(shop_, CollectiveOp::all_reduce, kNormBytes, shape_.expert);
      wait_for(communicate(Channel::expert, *data_norm_, {writer_.last_on(compute_)}));
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
  const Schedule& schedule_;
  const Placement placement_;
  const std::vector<Action> actions_;
  const std::vector<bool> reduces_;  ///< by action
  std::size_t written_ = 0;          ///< actions of this step
  ProgramWriter writer_;
  std::uint16_t host_ = 0, compute_ = 0;
  std::array<std::uint16_t, kChannels> rows_{};
  std::vector<ChunkPasses> chunks_;
  StageParameters parameters_;
  std::optional<InputRows> input_;
  std::vector<TaskIndex> waits_, slots_;
  std::int32_t micro_batch_ = -1;
  std::array<std::optional<std::uint32_t>, kTransferChannels> transfers_;
  Reductions reduce_, regather_;
  std::optional<std::uint32_t> gather_, broadcast_, data_norm_, model_norm_;
  /// What the gathered block that runs had to wait for, and the one before it.
  std::array<std::vector<TaskIndex>, 2> before_block_;
  bool first_step_ = false;
};

}  // namespace

Program stage_program(Workshop& shop, const StageShape& shape) {
  return StageWriter(shop, shape).write();
}

}  // namespace stepsim
