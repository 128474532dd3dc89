// Small recordings that tests write themselves, as Kineto would.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <zlib.h>

#include "sim/core/error.hpp"
#include "sim/recording/kineto/read_kineto.hpp"
#include "sim/recording/observation.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

namespace stepsim {

/// Words of a generation of Kineto.
struct KinetoWords {
  const char* operation = "cpu_op";
  const char* runtime = "cuda_runtime";
  const char* annotation = "user_annotation";
  const char* kernel = "kernel";
  const char* copy = "gpu_memcpy";
  const char* stream = "7";  ///< of the GPU's activities, as their `tid`
};

/// Events of Kineto; times are texts, microseconds.
class SampleTrace {
 public:
  explicit SampleTrace(KinetoWords words = {}) : words_(words) {}

  SampleTrace& host(const char* category, const std::string& name, const std::string& ts,
                    const std::string& dur, int correlation = 0, int thread = 1) {
    return add(fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":100,"tid":{},"ts":{},"dur":{},"args":{{"correlation":{}}}}})",
        category, name, thread, ts, dur, correlation));
  }
  SampleTrace& operation(const std::string& name, const std::string& ts, const std::string& dur) {
    return host(words_.operation, name, ts, dur);
  }
  SampleTrace& annotation(const std::string& name, const std::string& ts, const std::string& dur) {
    return host(words_.annotation, name, ts, dur);
  }
  SampleTrace& call(const std::string& name, const std::string& ts, const std::string& dur,
                    int correlation, int thread = 1) {
    return host(words_.runtime, name, ts, dur, correlation, thread);
  }
  SampleTrace& gpu(const char* category, const std::string& name, const std::string& ts,
                   const std::string& dur, int correlation, const std::string& stream) {
    return add(fmt::format(
        R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":{},"ts":{},"dur":{},"args":{{"device":0,"correlation":{}}}}})",
        category, name, stream, ts, dur, correlation));
  }
  SampleTrace& kernel(const std::string& name, const std::string& ts, const std::string& dur,
                      int correlation, const std::string& stream = "") {
    return gpu(words_.kernel, name, ts, dur, correlation, stream.empty() ? words_.stream : stream);
  }
  SampleTrace& copy(const std::string& ts, const std::string& dur, int correlation) {
    return gpu(words_.copy, "Memcpy HtoD (Pinned -> Device)", ts, dur, correlation, words_.stream);
  }
  SampleTrace& add(const std::string& event) {
    events_ += (events_.empty() ? "" : ",\n") + event;
    return *this;
  }

  std::string list() const { return "[" + events_ + "]"; }
  /// A document with more members before and behind its events.
  std::string document(const std::string& before = "", const std::string& behind = "") const {
    return fmt::format(R"({{"schemaVersion": 1,{} "traceEvents": {}{}}})", before, list(), behind);
  }

 private:
  KinetoWords words_;
  std::string events_;
};

/// A step of 100 us with a late launch, a queued kernel and one on another stream.
inline SampleTrace sample_step(KinetoWords words = {}) {
  return SampleTrace(words)
      .annotation("ProfilerStep#3", "1000", "100")
      .annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "1000", "10")
      .operation("aten::mm", "1012", "20")
      .call("cudaLaunchKernel", "1020", "5", 11)
      .call("cudaLaunchKernel", "1026", "4", 12)
      .kernel("volta_sgemm_64x64_nt", "1030", "20", 11)
      .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "1040", "30", 12, "9");
}

inline std::string packed(const std::string& text) {
  std::string result(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

inline Recording recording_of(const std::string& text, const std::string& name = "trace.json") {
  const TemporaryFolder folder;
  return read_kineto(folder.file(name, text));
}

inline const KernelKinds& sample_kinds() {
  static const KernelKinds kinds = load_kernel_kinds(Library{{source_folder()}});
  return kinds;
}

inline Observation observed(const std::string& text) {
  return observe(recording_of(text), sample_kinds());
}

/// The error that reading the text ends with; empty where there is none.
inline std::string refusal_of(const std::string& text, const std::string& name = "trace.json") {
  try {
    recording_of(text, name);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

/// Whether one of the sentences has that text in it.
inline bool is_said(const std::vector<std::string>& sentences, const std::string& text) {
  for (const std::string& sentence : sentences) {
    if (sentence.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace stepsim
