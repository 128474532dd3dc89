// The line that says how far a measurement is.
#pragma once

#include <optional>
#include <ostream>
#include <string>

namespace stepsim::calib {

struct Position {
  std::size_t done = 0, total = 0;
  double elapsed_s = 0;
  std::optional<double> limit_s;
  std::string point;  ///< identity of the point that comes next
};

/// The line "[####......] 412/1030  2:41 of 10:00  gemm dtype=bf16 ...", cut to `width` characters.
std::string progress_text(const Position& position, std::size_t width);

/// Redraws one line on a terminal; elsewhere prints a line whenever another tenth is done.
class Progress {
 public:
  Progress(std::ostream& out, bool terminal, std::size_t width)
      : out_(out), terminal_(terminal), width_(width) {}
  void show(const Position& position);
  /// Removes the line, so that something else can be printed.
  void clear();

 private:
  std::ostream& out_;
  bool terminal_, drawn_ = false;
  std::size_t width_, tenth_ = 0;
};

}  // namespace stepsim::calib
