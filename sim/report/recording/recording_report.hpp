// Writers of what recordings show, for people and for programs.
#pragma once

#include <optional>
#include <string>

#include "sim/recording/ranks/recorded_job.hpp"
#include "sim/replay/replay.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// What holds the recorded steps up, in a sentence, and what to try next.
struct RecordingVerdict {
  std::string sentence, next;
  std::string change;  ///< begin of the name of what would mend it (ReplayedChange); empty: nothing
};
RecordingVerdict verdict_of(const RecordedJob& job);

/// For a terminal: the ranks beside each other, and of the one that works longest where its window
/// goes, why its GPU is idle, its steps and kernels; collectives, late ranks, what is not known, a
/// verdict. With what changes of that rank would give, where it was replayed.
std::string to_table(const RecordedJob& job, const Screen& screen,
                     const std::optional<Replay>& replay = {});

/// One object of schema "stepsim.recording/1": base SI units, and each key says its unit.
std::string to_json(const RecordedJob& job, const std::optional<Replay>& replay = {});

/// Why a rank comes last: "it waits for its loader", "its kernels take longer".
const char* words_of(OwnWork reason);
/// With by how much, in a mean step; or that it has more to do.
std::string reason_of(const LateRank& late);
/// That, or that nobody knows, for it was late before the recording began.
std::string sentence_of(const LateRank& late);

/// Judgement: what is known of a smaller share of the products says little of all.
inline constexpr double kMostlyKnown = 0.8;

/// Products of which the GPU's profile has the size.
struct ComparedProducts {
  double seconds = 0, share = 0;  ///< share of the time of all kernels that multiply
  Flops flops;
  Seconds attainable;
};
ComparedProducts compared_products(const Products& products);
/// Share of the GPU's peak in a window of that length; absent where the profile or too many sizes
/// are not known.
std::optional<double> hardware_flops_utilisation(const Products& products, double window_s);
/// The FLOP/s of a window of that length, with what is not known of them. `is_of_core`: the device
/// is a core.
std::string products_sentence(const Products& products, double window_s, bool is_of_core);

/// The causes in seconds of a mean step, or of the whole window where no steps are marked.
CauseSeconds mean_step_causes(const Observation& seen);

/// All sentences of the job and its ranks; those of one rank of several name it, and what several
/// ranks say is said once.
std::vector<std::string> all_not_known(const RecordedJob& job);

}  // namespace stepsim
