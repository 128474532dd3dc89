// Messages between the processes that a launcher started together.
//
// MPI carries them (mpi/), as a module that is loaded where such a launcher is seen.
#pragma once

#include <optional>
#include <string>

namespace stepsim {

struct Message {
  int rank = 0, tag = 0;
  std::string text;
};

class Messages {
 public:
  virtual ~Messages() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void send(int to, int tag, const std::string& text) = 0;
  /// To one that may be dead: nobody waits for it.
  virtual void send_to_any(int to, int tag) = 0;
  /// The next message, if there is one.
  virtual std::optional<Message> heard() = 0;
  /// Waits for all to come here.
  virtual void leave() = 0;
};

/// What the module exports: a function of this name that joins the others and returns how to speak
/// with them.
using JoinOthers = Messages* (*)();
inline constexpr const char* kJoinOthers = "stepsim_join_others";

}  // namespace stepsim
