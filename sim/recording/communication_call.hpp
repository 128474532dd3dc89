// Collectives and transfers of a recorded rank: their groups, and what nothing hid of each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/parallel_axis.hpp"
#include "sim/recording/gpu_time.hpp"
#include "sim/recording/recording.hpp"
#include "sim/recording/steps.hpp"

namespace stepsim {

/// What calls have in common that are matched with each other: an operation of a group.
struct CommunicationKind {
  std::string operation;  ///< all_reduce, all_gather, ...; as the recorder has it where unknown
  std::string group;      ///< name of the process group; empty: not recorded
  std::string group_description;
  std::vector<int> ranks;  ///< empty: not recorded
  int group_size = 0;      ///< 0: not recorded
  Axis axis = Axis::data;  ///< what it is counted under
  bool operator==(const CommunicationKind&) const = default;
};

struct CommunicationCall {
  Interval time;
  IntervalSet exposed;   ///< of its time: nothing computes, and no call before it is still at it
  std::size_t kind = 0;  ///< index in RankCommunication::kinds
  double bytes = 0;  ///< of the payload by NCCL's convention: the larger of both ends; 0: not known
  int step = -1;     ///< the step that launched it, its index; -1: none
};

struct RankCommunication {
  std::vector<CommunicationKind> kinds;
  std::vector<CommunicationCall> calls;  ///< in order of their start
};

/// The communication within the window.
RankCommunication communication_of(const Recording& recording, const KindByName& kinds,
                                   const GpuRows& rows, const std::vector<RecordedStep>& steps,
                                   Interval window);

/// all_reduce for allreduce, ncclDevKernel_AllReduce_Sum_f32, ...: words of PyTorch and of kernels'
/// names.
std::string operation_named(std::string_view name);

/// What waiting for the operation is counted under: by the group's description (tp, tensor,
/// mesh_tp, ...), else by the operation (transfers: stages, exchanges: experts), else data.
Axis axis_of(const RecordedCollective& collective, const std::string& operation);

/// Whether all ranks are done with it at the same time, whoever came last.
bool binds_ends(const CommunicationKind& kind);
/// Whether one member gives to all others, or takes from them, and may be done before they are.
bool has_root(const CommunicationKind& kind);

/// Bytes that a link of the ring carries for each byte of the payload (NCCL's tests,
/// doc/PERFORMANCE.md): 2 (n-1)/n for an all-reduce, (n-1)/n for gathers, scatters and exchanges.
double bus_factor(const std::string& operation, int ranks);

}  // namespace stepsim
