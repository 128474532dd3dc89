// A system call that a watched process is about to make, and waits with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>
#include <sys/user.h>

namespace stepsim {

class StoppedCall {
 public:
  /// REQUIRES: the process stands at a call, traced by this one.
  explicit StoppedCall(pid_t process);

  pid_t process() const { return process_; }
  long number() const;
  std::uint64_t argument(int index) const;  ///< 0 to 3

  /// The text that ends with a zero byte there; nothing where there is none of at most 1 MiB.
  std::optional<std::string> text_at(std::uint64_t address) const;
  /// Texts that an array of pointers points to, up to its null; none of more than 20,000.
  std::vector<std::string> texts_at(std::uint64_t address) const;

  /// Makes the argument a text. Returns false where the process has no room for it.
  bool replace(int index, const std::string& text);
  /// Makes the argument an array of pointers to these texts.
  bool replace(int index, const std::vector<std::string>& texts);
  /// The call is not made; the process sees this for its result (a negative errno).
  void answer(long result);

 private:
  bool read(std::uint64_t address, void* to, std::size_t bytes) const;
  std::uint64_t pushed(const std::string& bytes);
  void set_argument(int index, std::uint64_t value);
  void write_registers();

  pid_t process_;
  user_regs_struct registers_{};
  std::uint64_t free_end_ = 0;  ///< below it the stack is free
};

}  // namespace stepsim
