// Pieces of work in processes of their own: SimGrid has one clock a process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stepsim {

/// Calls `work` with 0 to count - 1, each in a fresh copy of this process, at most `jobs` at a
/// time, and returns what they return, in order. Nothing stands for those that Ctrl-C (SIGINT)
/// prevented; the signal ends the copies, not the caller. Throws the first error of the copies, in
/// order, as the kind of error that it is.
std::vector<std::optional<std::string>> run_forked(int count, int jobs,
                                                   const std::function<std::string(int)>& work);

/// Numbers as an answer: the shortest text that reads back as the same ones.
std::string text_of(const std::vector<double>& numbers);
/// Throws InternalError where it is no such text.
std::vector<double> numbers_of(const std::string& text);

}  // namespace stepsim
