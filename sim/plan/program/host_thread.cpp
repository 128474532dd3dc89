// The host's own work, at the points of a training loop where frameworks do it.
#include "sim/plan/program/host_thread.hpp"

#include "sim/plan/program/launch_time.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/host_period.hpp"

namespace stepsim {

HostThread::HostThread(RankRows& rows, const Placement& placement,
                       const std::vector<Action>& actions)
    : rows_(rows),
      scenario_(rows.draft().scenario),
      host_(scenario_.host),
      placement_(placement),
      slowdown_(cpu_slowdown(scenario_)),
      copy_chunks_(scenario_.parallelism.pipeline.chunks / schedule_of(scenario_).needs.copies) {
  for (const Action& action : actions) {
    const Milestone reached = milestone(action);
    if (reached != none) ++of_step_[reached];
  }
}

bool HostThread::has_loss(const Action& action) const {
  const auto copy = static_cast<std::size_t>(action.chunk / copy_chunks_);
  return placement_.ends()[copy].second == rows_.shape().stage;
}

HostThread::Milestone HostThread::milestone(const Action& action) const {
  if (action.pass == PassKind::forward)
    return placement_.is_last({rows_.shape().stage, action.chunk}) ? forward : none;
  return action.pass != PassKind::weight_gradient && action.chunk % copy_chunks_ == 0 ? backward
                                                                                      : none;
}

void HostThread::begin_step(int step) {
  step_ = step;
  passed_ = {};
  inputs_ = batches_ = passes_ = 0;
  compiled_ = false;
  const auto& collection = host_.garbage_collection;
  if (!collection || !stepsim::is_due(step + rows_.shape().collects_early, collection->every))
    return;
  rows_.work_on_host("garbage collection", collection->pause * slowdown_,
                     Cause::garbage_collection);
}

void HostThread::before(const Action& action) {
  if (action.pass == PassKind::forward) take_batch(action);
  const auto& again = host_.recompilation;
  if (!again || compiled_) return;
  const bool is_forward = action.pass == PassKind::forward;
  if (is_forward != (again->pass == CompiledPass::forward)) return;
  compiled_ = true;
  if (!stepsim::is_due(step_, static_cast<int>(recompilation_period(scenario_)))) return;
  rows_.work_on_host(is_forward ? "recompile forward" : "recompile backward",
                     again->time * slowdown_, Cause::recompilation);
}

void HostThread::take_batch(const Action& action) {
  const bool takes_batch = placement_.needs_batch({rows_.shape().stage, action.chunk});
  for (const CpuWork& work : host_.cpu_work) {
    const bool is_input = work.after == HostAfter::input;
    if (!is_input && (work.after != HostAfter::batch || !takes_batch)) continue;
    const bool first = is_input ? inputs_ == 0 : batches_ == 0;
    const bool due = work.per == Per::micro_batch ? stepsim::is_due(number_of(action), work.every)
                                                  : first && stepsim::is_due(step_, work.every);
    if (due) do_work(work, rows_.reached());
  }
  ++inputs_;
  batches_ += takes_batch ? 1 : 0;
}

void HostThread::after(const Action& action) {
  const bool reads_pass = host_.sync && host_.sync->per == ReadPer::pass;
  if (reads_pass && stepsim::is_due(passes_++, host_.sync->every)) read_value({rows_.computed()});
  const Milestone reached = milestone(action);
  if (reached == none) return;
  for (const CpuWork& work : host_.cpu_work) {
    if (is_due(work, reached, action)) do_work(work, {rows_.computed()});
  }
  const auto& sync = host_.sync;
  if (sync && sync->per == ReadPer::micro_batch && reached == backward && has_loss(action) &&
      stepsim::is_due(number_of(action), sync->every)) {
    read_value({rows_.computed()});
  }
  ++passed_[reached];
}

int HostThread::number_of(const Action& action) const {
  return step_ * scenario_.micro_batches() + action.micro_batch;
}

bool HostThread::is_due(const CpuWork& work, Milestone reached, const Action& action) const {
  if (work.after != (reached == forward ? HostAfter::forward : HostAfter::backward)) return false;
  if (work.per == Per::micro_batch) return stepsim::is_due(number_of(action), work.every);
  return passed_[reached] + 1 == of_step_[reached] && stepsim::is_due(step_, work.every);
}

void HostThread::do_work(const CpuWork& work, const std::vector<TaskIndex>& input) {
  // `tensor.cpu()` makes pageable memory, and what comes back is in such memory, too.
  const auto copy = [&](const char* name, Bytes bytes) {
    if (bytes > Bytes{0})
      rows_.write_on_host(name, bytes / scenario_.cluster.gpu.copy_pageable, Cause::cpu_work);
  };
  if (work.waits) rows_.wait_on_host("wait for the GPU", input);
  copy("copy to CPU", work.to_host);
  rows_.write_on_host(work.name, work.time * slowdown_, Cause::cpu_work);
  copy("copy to GPU", work.to_gpu);
  rows_.end_host_work("end of CPU work");
}

void HostThread::read_value(const std::vector<TaskIndex>& value) {
  rows_.wait_on_host("wait for the GPU", value);
  if (host_.sync->time > Seconds{0})
    rows_.work_on_host("read value", host_.sync->time, Cause::cpu_work);
}

bool HostThread::reads_at_end() const {
  const auto& sync = host_.sync;
  return !sync || (sync->per == ReadPer::step && stepsim::is_due(step_, sync->every));
}

void HostThread::end_step() {
  bool waits = reads_at_end();
  rows_.set_micro_batch(-1);
  for (const CpuWork& work : host_.cpu_work) {
    if (work.after != HostAfter::step || !stepsim::is_due(step_, work.every)) continue;
    do_work(work, rows_.reached());
    waits |= work.waits;
  }
  if (host_.sync && reads_at_end()) read_value(rows_.reached());
  rows_.wait_for(rows_.computed());
  const std::vector<TaskIndex> all = rows_.take_waits();
  rows_.writer().mark_step_end(waits ? rows_.wait_on_host("end of step", all)
                                     : rows_.mark("end of step", all));
}

}  // namespace stepsim
