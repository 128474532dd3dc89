// A rank's program: what a framework's training loop issues, step by step.
#include "sim/plan/program/stage_program.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/plan/input/checkpoint.hpp"
#include "sim/plan/input/input.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/pass/operations.hpp"
#include "sim/plan/pass/overlap.hpp"
#include "sim/plan/pass/parameter_gathers.hpp"
#include "sim/plan/pass/segment.hpp"
#include "sim/plan/pass/sharded_pass.hpp"
#include "sim/plan/program/activation_copies.hpp"
#include "sim/plan/program/host_thread.hpp"
#include "sim/plan/program/optimizer.hpp"
#include "sim/plan/program/passes.hpp"
#include "sim/plan/program/rank_rows.hpp"
#include "sim/plan/program/running_statistics.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/program/step_end.hpp"
#include "sim/plan/program/transfers.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

/// One chunk of the stage, compiled.
struct ChunkPasses {
  std::array<Segment, kPassKinds> segments;           ///< by kind; empty: the order has none
  std::array<Segment, kPassKinds> reducing_segments;  ///< passes that also reduce gradients
  std::array<Segment, kPassKinds> first_segments;  ///< passes that reduce in the first step of all
  Segment gathering_segment;  ///< the first forward pass of a step, if it waits for parameters
  std::vector<ParameterBucket> buckets;  ///< parameters that it waits for
  std::vector<TaskIndex> asked;  ///< gathers of these parameters that were started before the pass
  bool gathered = false;         ///< whether they have been, in this step
  ChunkMemory memory;
  GradientReduction reduction;  ///< reduction of this chunk's gradients alone
};

/// `passes` of a step, each of at least `pieces` tasks. A plan that no machine can hold is the
/// user's mistake; better said than met.
void check_size(const Scenario& scenario, double passes, std::size_t pieces) {
  const int steps = scenario.run.warmup + scenario.run.steps;
  const double tasks = passes * steps * static_cast<double>(pieces);
  if (tasks <= kMostTasks) return;
  throw UserError(fmt::format(
      "{:.0f} passes a step x {} steps x {} tasks a pass = {:.2g} tasks a rank, more than {:.0g}: "
      "simulate fewer steps (run.steps, run.warmup) or micro-batches (training.global_batch)",
      passes, steps, pieces, tasks, kMostTasks));
}

/// Bytes of a micro-batch on the GPU.
Bytes batch_bytes(const Scenario& scenario) {
  if (!scenario.data) return Bytes{};
  return scenario.data->device_bytes * static_cast<double>(scenario.training.micro_batch);
}

class StageWriter {
 public:
  StageWriter(PlanDraft& draft, const StageShape& shape)
      : draft_(draft),
        shape_(shape),
        scenario_(draft.scenario),
        pipeline_(draft.scenario.parallelism.pipeline),
        strategy_(draft.scenario.parallelism.data.sharding),
        schedule_(schedule_of(draft.scenario)),
        placement_(placement_of(draft.scenario)),
        actions_(schedule_.order(shape_of(draft.scenario), shape.stage)),
        reduces_(reductions(actions_, draft.scenario.parallelism)),
        gathers_(keeps_gathered(draft, shape) || gathers_beside_forward(draft.scenario, shape)),
        gather_(when_gathered(draft.scenario.parallelism)),
        rows_(draft, shape),
        writer_(rows_.writer()),
        transfers_(rows_, placement_),
        offload_(rows_),
        copies_(rows_),
        end_(rows_, offload_),
        statistics_(rows_),
        host_(rows_, placement_, actions_),
        checkpoint_(rows_),
        broadcast_(rows_, batch_bytes(draft.scenario), "broadcast of the batch") {
    compile();
  }

  Program write() {
    check_pieces();
    if (shape_.loads) input_.emplace(draft_, writer_, rows_.host());
    const int steps = scenario_.run.warmup + scenario_.run.steps;
    for (int step = 0; step < steps; ++step) {
      if (step == 1) writer_.expect(static_cast<std::size_t>(steps));
      writer_.set_step(step);
      first_step_ = step == 0;
      const Seconds stall{shape_.slow.delay};
      if (stall > Seconds{0}) rows_.work_on_host("stall", stall, Cause::stall);
      host_.begin_step(step);
      statistics_.write();
      write_passes();
      end_.write();
      host_.end_step();
      if (draft_.saves[static_cast<std::size_t>(step)]) checkpoint_.write();
    }
    if (input_) input_->leave();
    return writer_.finish();
  }

 private:
  void compile() {
    for (int chunk = 0; chunk < pipeline_.chunks; ++chunk) chunks_.push_back(compiled(chunk));
    writer_.program().resident_bytes =
        resident_bytes(scenario_, draft_.graph, shape_.stage).bytes();
  }

  ChunkPasses compiled(int chunk) {
    const auto blocks = blocks_of(scenario_, draft_.graph, shape_.stage, chunk);
    ChunkPasses passes{
        .memory = chunk_memory(scenario_, draft_.graph, shape_.stage, chunk),
        .reduction = {rows_, chunk_parameters(scenario_, draft_.graph, shape_.stage, chunk)}};
    for (const Action& action : actions_) {
      const auto kind = static_cast<std::size_t>(action.pass);
      Segment& segment = passes.segments[kind];
      if (action.chunk != chunk || !segment.empty()) continue;
      const auto compile = [&](Reduction how) {
        return segment_of(draft_, shape_, blocks, action.pass, how);
      };
      segment = compile(Reduction::none);
      if (action.pass == PassKind::forward && gathers_) {
        if (!keeps_gathered(draft_, shape_))
          passes.buckets = parameter_buckets(draft_, shape_, blocks, reduction(chunk));
        passes.gathering_segment =
            segment_of(draft_, shape_, blocks, action.pass, reduction(chunk), gather_);
      }
      if (!completes_gradients(action.pass)) continue;
      const Reduction how = reduction(chunk);
      passes.reducing_segments[kind] = compile(how);
      if (scenario_.parallelism.data.rebuild_buckets && how == Reduction::buckets)
        passes.first_segments[kind] = compile(Reduction::one_bucket);
    }
    return passes;
  }

  /// What a reducing backward pass of the chunk does about gradients.
  Reduction reduction(int chunk) const {
    const DataParallel& data = scenario_.parallelism.data;
    const bool within_pass = data.overlap || strategy_.shards_parameters;
    if (!within_pass || (shape_.of(Channel::data).ranks == 1 && !copies_gradients(scenario_)))
      return Reduction::none;
    // By part, which those who reduce together all hold, be it as another chunk of another stage.
    const bool later = placement_.part({shape_.stage, chunk}) > 0;
    return later && !data.bucket_later_stages ? Reduction::one_bucket : Reduction::buckets;
  }

  void check_pieces() const {
    std::size_t pieces = 0;
    for (const ChunkPasses& chunk : chunks_) {
      for (const auto* segments :
           {&chunk.segments, &chunk.reducing_segments, &chunk.first_segments}) {
        for (const Segment& segment : *segments) pieces = std::max(pieces, segment.size());
      }
    }
    check_size(scenario_, static_cast<double>(actions_.size()), pieces);
  }

  /// The chunk's parameters are on their way from here.
  void ask_for(int index) {
    if (gather_ != ParameterGather::given || index >= pipeline_.chunks) return;
    ChunkPasses& chunk = chunks_[static_cast<std::size_t>(index)];
    for (const ParameterBucket& bucket : chunk.buckets) {
      const std::uint32_t operation = pass_collective(
          draft_, CollectiveOp::all_gather, bucket.bytes(scenario_.training), bucket.group.shape);
      chunk.asked.push_back(rows_.communicate(bucket.group.gather, operation, rows_.reached()));
    }
  }

  /// A stage asks for a chunk when the first of the pipeline reaches the chunk before it: so many
  /// forward passes earlier as it is stages later.
  void ask_ahead(const Action& action) {
    if (!gathers_ || action.pass != PassKind::forward) return;
    for (int chunk = 2; chunk < pipeline_.chunks; ++chunk) {
      if (std::max(first_forward(chunk - 1) - shape_.stage, 0) == forwards_) ask_for(chunk);
    }
    ++forwards_;
  }

  /// Number of the chunk's first forward pass among those of a step.
  int first_forward(int chunk) const {
    int number = 0;
    for (const Action& action : actions_) {
      if (action.pass != PassKind::forward) continue;
      if (action.chunk == chunk) return number;
      ++number;
    }
    return number;
  }

  void begin_gathers() {
    if (!gathers_) return;
    forwards_ = 0;
    for (ChunkPasses& chunk : chunks_) {
      chunk.gathered = false;
      chunk.asked.clear();
    }
    // Stages that hold copies of each other's parts begin with the same one.
    const int first = actions_.front().chunk;
    ask_for(first);
    ask_for(first == 0 ? 1 : 0);
  }

  void write_passes() {
    written_ = 0;
    begin_gathers();
    const auto units = exchanges(actions_, schedule_, pipeline_);
    std::vector<TaskIndex> received = post_receives(units.front());
    transfers_.synchronize(received);
    for (std::size_t i = 0; i < units.size(); ++i) {
      const std::vector<Action>& passes = units[i].passes;
      std::vector<TaskIndex> next;
      // With overlap the next input travels beside this pass, else it is asked for when the pass is
      // done.
      if (pipeline_.overlap_p2p && i + 1 < units.size()) next = post_receives(units[i + 1]);
      for (std::size_t k = 0; k < received.size(); ++k)
        rows_.wait_for(transfers_.gathered(received[k], passes[k].micro_batch));
      if (draft_.pairs && passes.size() == 2 && passes.back().joined) {
        write_pair(passes.front(), passes.back());
      } else {
        for (const Action& action : passes) write_pass(action);
      }
      std::vector<TaskIndex> moved;
      for (const Action& action : passes) moved.push_back(transfers_.send(action));
      if (!pipeline_.overlap_p2p && i + 1 < units.size()) next = post_receives(units[i + 1]);
      write_weight_gradients(units[i]);
      moved.insert(moved.end(), next.begin(), next.end());
      transfers_.synchronize(std::move(moved));
      received = std::move(next);
    }
  }

  /// Weight gradients wait for no transfer: they run beside those around them.
  void write_weight_gradients(const ExchangedPasses& unit) {
    if (unit.weight_gradients.empty()) return;
    const auto waits = rows_.take_waits();
    for (const Action& action : unit.weight_gradients) write_pass(action);
    for (const TaskIndex task : waits) rows_.wait_for(task);
  }

  std::vector<TaskIndex> post_receives(const ExchangedPasses& unit) {
    std::vector<TaskIndex> received;
    for (const Action& action : unit.passes) received.push_back(transfers_.receive(action));
    return received;
  }

  /// A pass under way.
  struct Running {
    const Action& action;
    ChunkPasses& chunk;
    const Segment& segment;
    bool reduces;
    std::vector<TaskIndex> slots, waits{};
  };

  void write_pass(const Action& action) {
    Running pass = begin(action);
    const TaskIndex first = next_task();
    slots_ = std::move(pass.slots);
    copies_.begin(action.chunk, action.micro_batch);
    write_pieces(pass.segment, 0, pass.segment.size());
    if (pass.segment.empty()) rows_.mark("no layers", rows_.take_waits());
    end({&pass}, first);
  }

  /// Both wait for the inputs of both; from there on each waits for its own exchanges.
  void write_pair(const Action& forward, const Action& backward) {
    Running ahead = begin(forward), back = begin(backward);
    const std::array<Running*, 2> passes{&back, &ahead};
    const TaskIndex first = next_task();
    back.waits = ahead.waits = rows_.take_waits();
    for (const Turn& turn : take_turns({&back.segment, &ahead.segment})) {
      Running& pass = *passes[turn.pass];
      rows_.set_micro_batch(pass.action.micro_batch);
      copies_.begin(pass.action.chunk, pass.action.micro_batch);
      for (const TaskIndex task : pass.waits) rows_.wait_for(task);
      slots_.swap(pass.slots);
      write_pieces(pass.segment, turn.begin, turn.end);
      slots_.swap(pass.slots);
      pass.waits = rows_.take_waits();
    }
    for (const Running* pass : passes) {
      for (const TaskIndex task : pass->waits) rows_.wait_for(task);
    }
    end({&ahead, &back}, first);
  }

  TaskIndex next_task() { return static_cast<TaskIndex>(writer_.program().tasks.size()); }

  Running begin(const Action& action) {
    ChunkPasses& chunk = chunks_[static_cast<std::size_t>(action.chunk)];
    const auto kind = static_cast<std::size_t>(action.pass);
    const bool reduces = reduces_[written_++];
    rows_.set_micro_batch(action.micro_batch);
    if (action.pass == PassKind::forward && needs_batch(action.chunk)) fetch_batch();
    host_.before(action);
    if (scenario_.host.graph()) writer_.spend_on_host(writer_.launch_seconds());
    ask_ahead(action);
    if (gathers_ && action.pass == PassKind::forward && !chunk.gathered) {
      chunk.gathered = true;
      return {action, chunk, chunk.gathering_segment, reduces, chunk.asked};
    }
    const bool at_once = first_step_ && !chunk.first_segments[kind].empty();
    const Segment& segment = !reduces  ? chunk.segments[kind]
                             : at_once ? chunk.first_segments[kind]
                                       : chunk.reducing_segments[kind];
    return {action, chunk, segment, reduces, {}};
  }

  /// What follows passes whose tasks begin with `first`, of which two run in turns.
  void end(std::initializer_list<const Running*> passes, TaskIndex first) {
    for (const Running* pass : passes) {
      rows_.set_micro_batch(pass->action.micro_batch);
      if (pass->reduces) reduce(pass->chunk);
    }
    // On the compute row, where passes follow one another.
    const PassMemory& one = memory_of(**passes.begin());
    const PassMemory memory =
        passes.size() == 1 ? one : in_turns(one, memory_of(**(passes.end() - 1)));
    writer_.add_memory(rows_.computed_from(first), memory.most.total().bytes(), true);
    const Bytes left = memory.leaves.total() - memory.most.total();
    writer_.add_memory(rows_.computed(), left.bytes(), false);
    for (const Running* pass : passes) host_.after(pass->action);
  }

  static const PassMemory& memory_of(const Running& pass) {
    return pass.chunk.memory[static_cast<std::size_t>(pass.action.pass)];
  }

  /// Without overlap the gradients of passes that reduce are reduced between passes.
  void reduce(ChunkPasses& chunk) {
    if (!reduces_alone(scenario_, shape_) || scenario_.parallelism.data.no_sync) return;
    for (const TaskIndex task : chunk.reduction.start()) rows_.wait_for(task);
    chunk.reduction.unpack();
  }

  void write_pieces(const Segment& segment, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      std::visit([&](const auto& part) { write(part); }, segment[i]);
  }

  void write(const ChainPiece& piece) { rows_.write_chain(piece.chain); }
  void write(const StartPiece& piece) {
    slots_.resize(std::max(slots_.size(), static_cast<std::size_t>(piece.slot) + 1),
                  ProgramWriter::kNoTask);
    std::vector<TaskIndex> before = needed_by(piece);
    if (piece.reduces) before = rows_.wait_for_cycle(std::move(before));
    const TaskIndex started = rows_.communicate(piece.channel, piece.operation, before);
    slots_[static_cast<std::size_t>(piece.slot)] = started;
    offload_.after(piece.channel, piece.operation, started);
  }

  std::vector<TaskIndex> needed_by(const StartPiece& piece) const {
    if (piece.follows >= 0) return {slots_[static_cast<std::size_t>(piece.follows)]};
    return piece.beside_block ? before_block_[0] : rows_.reached();
  }

  void write(const WaitPiece& p) { rows_.wait_for(slots_[static_cast<std::size_t>(p.slot)]); }

  void write(const BlockPiece&) {
    before_block_[1] = std::exchange(before_block_[0], rows_.reached());
  }

  void write(const HoldPiece& piece) {
    const auto& done = before_block_[static_cast<std::size_t>(piece.blocks - 1)];
    if (!done.empty()) rows_.wait_on_host("wait for a free block", done);
  }

  void write(const ReadPiece&) { rows_.read_on_host(); }
  void write(const OffloadPiece& piece) { copies_.leave(piece.bytes); }
  void write(const ReloadPiece& piece) { copies_.come_back(piece.bytes); }
  void write(const TurnPiece&) {}

  bool needs_batch(int chunk) const {
    return scenario_.data.has_value() && placement_.needs_batch({shape_.stage, chunk});
  }

  /// The first tensor rank loads and copies; the others get the batch from it.
  void fetch_batch() {
    TaskIndex batch = input_ ? input_->fetch(rows_.micro_batch()) : ProgramWriter::kNoTask;
    if (input_ && input_->gpu_time() > Seconds{0}) batch = decode_on_gpu(batch);
    if (tensor_ranks(shape_).ranks > 1) batch = broadcast_.after(batch, Cause::batch_wait);
    rows_.wait_for(batch);
  }

  TaskIndex decode_on_gpu(TaskIndex batch) {
    rows_.wait_for(batch);
    rows_.write_kernels({{.name = draft_.name("decode"),
                          .seconds = input_->gpu_time().seconds(),
                          .memory_bound = false,
                          .cause = Cause::batch_wait}});
    return rows_.computed();
  }

  PlanDraft& draft_;
  const StageShape& shape_;
  const Scenario& scenario_;
  const Pipeline& pipeline_;
  const Sharding& strategy_;
  const Schedule& schedule_;
  const Placement placement_;
  const std::vector<Action> actions_;
  const std::vector<bool> reduces_;  ///< by action
  const bool gathers_;               ///< first forward passes wait for parameters
  const ParameterGather gather_;
  int forwards_ = 0;         ///< passes of this step
  std::size_t written_ = 0;  ///< actions of this step
  RankRows rows_;
  ProgramWriter& writer_;
  Transfers transfers_;
  Offload offload_;
  ActivationCopies copies_;
  StepEnd end_;
  RunningStatistics statistics_;
  HostThread host_;
  CheckpointRows checkpoint_;
  std::vector<ChunkPasses> chunks_;
  std::optional<InputRows> input_;
  std::vector<TaskIndex> slots_;
  /// broadcast of the batch: a ring carries as much as a gather of it does
  TensorRanksGather broadcast_;
  /// What the gathered block that runs had to wait for, and the one before it.
  std::array<std::vector<TaskIndex>, 2> before_block_;
  bool first_step_ = false;
};

}  // namespace

Program stage_program(PlanDraft& draft, const StageShape& shape) {
  // Forward and backward at least; the order of too many would not fit in memory either.
  const Pipeline& pipeline = draft.scenario.parallelism.pipeline;
  check_size(draft.scenario, 2.0 * draft.scenario.micro_batches() * pipeline.chunks, 1);
  return StageWriter(draft, shape).write();
}

}  // namespace stepsim
