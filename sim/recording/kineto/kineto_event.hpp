// One event of Kineto, as its fields stand in the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// Texts are valid until the next event is parsed.
struct KinetoEvent {
  char phase = 0;             ///< `ph`: X has a duration, M is metadata, s and f are flows
  std::string_view category;  ///< `cat`
  std::string_view name;
  std::string_view process, thread;                ///< `pid`, `tid`: numbers or texts
  std::optional<Nanoseconds> start, duration;      ///< `ts`, `dur`, taken as microseconds
  std::uint64_t correlation = 0;                   ///< of args; 0: none
  std::optional<std::int64_t> stream, device;      ///< of args
  double bytes = 0;                                ///< of args, of a copy
  std::optional<RecordedCollective> collective;    ///< of args: what NCCL, RCCL or gloo are told
  std::int64_t device_type = 0;                    ///< of args, of memory: c10::DeviceType
  double allocated_bytes = 0, reserved_bytes = 0;  ///< of args, of memory: in all
  std::string_view sizes, types;  ///< of args: lists as they stand there, where has_shape
};

/// Whether the operator says what a model is by the sizes of its tensors: products of matrices,
/// convolutions, look-ups and attention. Those of others are not read.
bool has_shape(std::string_view operation);

/// A decimal number of microseconds as nanoseconds, exactly: a double would hold times since 1970
/// to 0.25 us only. Nothing where the text is no number, or later than 285 years.
std::optional<Nanoseconds> nanoseconds_of(std::string_view microseconds);

/// Parses events one after the other, with one memory for all.
class KinetoParser {
 public:
  KinetoParser();
  ~KinetoParser();
  /// The event of that text, behind which kPiecePadding bytes may be read. Nothing where it is no
  /// JSON object; bytes that are not UTF-8 become question marks.
  std::optional<KinetoEvent> event(std::string_view text);

 private:
  struct Json;
  std::unique_ptr<Json> json_;
};

}  // namespace stepsim
