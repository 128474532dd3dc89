// A second engine, without SimGrid: the longest path through the unfolded plan.
//
// Every transfer has its links to itself, so this is the exact answer where nothing contends and a
// lower bound everywhere: tasks run in the order of their rows, so that a longer transfer makes
// nothing earlier. Tasks are taken up in any order that the edges allow; dates are maxima.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sim/plan/plan.hpp"

namespace stepsim {

class Oracle {
 public:
  /// When the last rank finishes each step, warm-up included.
  static std::vector<double> step_ends(const Plan& plan) { return Oracle(plan).run(); }

 private:
  struct RankState {
    const Program* program = nullptr;
    std::vector<std::uint8_t> needs;  // edges not yet walked, by task
    std::vector<double> ready;        // latest end of the tasks before, by task
    std::vector<double> epoch_start;
  };
  struct Meeting {
    std::vector<std::pair<int, TaskIndex>> members;
    double date = 0;
  };

  explicit Oracle(const Plan& plan)
      : plan_(plan), meetings_(plan.groups.size()), ends_(static_cast<std::size_t>(plan.steps)) {
    for (std::size_t r = 0; r < plan.program_of.size(); ++r) {
      const Program& program = plan.program(static_cast<int>(r));
      ranks_.push_back({&program,
                        {},
                        std::vector<double>(program.tasks.size()),
                        std::vector<double>(program.epochs)});
      for (TaskIndex task = 0; task < program.tasks.size(); ++task) {
        ranks_[r].needs.push_back(program.tasks[task].needs);
        if (program.tasks[task].needs == 0) worklist_.emplace_back(static_cast<int>(r), task);
      }
    }
  }

  std::vector<double> run() {
    while (!worklist_.empty()) {
      const auto [rank, task] = worklist_.back();
      worklist_.pop_back();
      take_up(rank, task);
    }
    return ends_;
  }

  RankState& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void take_up(int rank, TaskIndex index) {
    RankState& s = state(rank);
    const Task& task = s.program->tasks[index];
    const double host =
        task.epoch == kNotLaunched ? 0 : s.epoch_start[task.epoch] + task.launch_offset;
    const double arrival = std::max(s.ready[index], host);
    switch (task.kind) {
      case TaskKind::chain: {
        const Chain& chain = plan_.chains[task.work];
        return finish(rank, index, std::max(host + chain.launched, s.ready[index] + chain.compute));
      }
      case TaskKind::communicate:
        return meet(rank, index, arrival);
      case TaskKind::host_wait:
        s.epoch_start[task.epoch + 1] = arrival;
        return finish(rank, index, arrival);
      case TaskKind::timer:
        return finish(rank, index, arrival + task.amount);
      case TaskKind::read: {
        const auto& links = plan_.lanes[static_cast<std::size_t>(rank)][task.work % kLanes];
        double longest = 0;
        for (const LinkId link : links) longest = std::max(longest, task.amount / rate(link));
        return finish(rank, index, arrival + longest);
      }
    }
  }

  void meet(int rank, TaskIndex index, double date) {
    const Task& task = state(rank).program->tasks[index];
    const int group =
        plan_.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(task.channel)];
    Meeting& meeting = meetings_[static_cast<std::size_t>(group)];
    meeting.members.emplace_back(rank, index);
    meeting.date = std::max(meeting.date, date);
    const Group& all = plan_.groups[static_cast<std::size_t>(group)];
    if (meeting.members.size() < all.ranks.size()) return;
    const Meeting met = std::exchange(meeting, {});
    const double end = met.date + seconds(plan_.operations[task.work].phases, all);
    for (const auto& [member, its_task] : met.members) finish(member, its_task, end);
  }

  double seconds(const Phases& phases, const Group& group) const {
    double sum = 0;
    for (const Phase& phase : phases) {
      double longest = 0;
      for (const PhaseFlow& flow : phase.flows) {
        longest = std::max(longest, flow.alone().seconds());
        for (const Stream& stream : group.streams[static_cast<std::size_t>(flow.pattern)])
          longest = std::max(longest, alone(flow, stream));
      }
      sum += phase.latency.seconds() + longest;
    }
    return sum;
  }

  double alone(const PhaseFlow& flow, const Stream& stream) const {
    double longest = flow.alone().seconds();
    std::map<LinkId, int> crossings;
    for (const LinkId link : stream.links) ++crossings[link];
    for (const auto& [link, times] : crossings)
      longest = std::max(longest, flow.bytes.bytes() * stream.share * times / rate(link));
    return longest;
  }

  double rate(LinkId link) const {
    return plan_.network.links()[link].bandwidth.bytes_per_second();
  }

  void finish(int rank, TaskIndex index, double date) {
    RankState& s = state(rank);
    const Program& program = *s.program;
    const auto& marks = program.step_ends;
    const auto mark = std::find(marks.begin(), marks.end(), index);
    if (mark != marks.end()) {
      double& end = ends_[static_cast<std::size_t>(mark - marks.begin())];
      end = std::max(end, date);
    }
    for (auto i = program.tasks[index].first_successor; i < program.end_of_successors(index); ++i) {
      const TaskIndex next = program.successors[i];
      s.ready[next] = std::max(s.ready[next], date);
      if (--s.needs[next] == 0) worklist_.emplace_back(rank, next);
    }
  }

  const Plan& plan_;
  std::vector<RankState> ranks_;
  std::vector<Meeting> meetings_;
  std::vector<double> ends_;
  std::vector<std::pair<int, TaskIndex>> worklist_;
};

}  // namespace stepsim
