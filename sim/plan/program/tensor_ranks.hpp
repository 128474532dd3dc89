// What tensor ranks hand to one another outside of passes: each needs all of what one of them, or
// each in parts, has received.
#pragma once

#include <optional>
#include <string>

#include "sim/plan/program/rank_rows.hpp"

namespace stepsim {

/// The tensor ranks of that kind of rank.
const GroupShape& tensor_ranks(const StageShape& shape);

/// One operation that a rank starts again and again among its tensor ranks.
class TensorRanksGather {
 public:
  /// `bytes`: what each of them has after it. `name`: of the operation; empty: all_gather.
  TensorRanksGather(RankRows& rows, Bytes bytes, std::string name = "")
      : rows_(rows), bytes_(bytes), name_(std::move(name)) {}

  /// The task behind which all of them have it, once `received` is done on this one.
  /// `wait_cause`: what waiting for the others is called.
  TaskIndex after(TaskIndex received, Cause wait_cause);

 private:
  RankRows& rows_;
  Bytes bytes_;
  std::string name_;
  std::optional<std::uint32_t> operation_;  ///< once it is part of the plan
};

}  // namespace stepsim
