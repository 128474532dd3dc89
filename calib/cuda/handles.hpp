// Owners of what CUDA hands out: memory, streams, events and graphs.
#pragma once

#include <cstddef>
#include <memory>

#include <cuda_runtime_api.h>

#include "calib/cuda/check.hpp"

namespace stepsim::calib::cuda {

/// A buffer in the memory of the current device.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes);
  char* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(char* memory) const { (void)cudaFree(memory); }
  };
  std::unique_ptr<char, Free> memory_;
};

/// A buffer in memory of the host that the GPU reads by itself.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::size_t bytes);
  char* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(char* memory) const { (void)cudaFreeHost(memory); }
  };
  std::unique_ptr<char, Free> memory_;
};

class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // NOLINTNEXTLINE(google-explicit-constructor): it is handed to CUDA's functions
  operator cudaStream_t() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { (void)cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // NOLINTNEXTLINE(google-explicit-constructor): it is handed to CUDA's functions
  operator cudaEvent_t() const { return event_; }
  void record(cudaStream_t stream) const {
    check(cudaEventRecord(event_, stream), "cudaEventRecord");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// The seconds between two events that have both happened; negative when `end` was first.
double seconds_between(const Event& begin, const Event& end);

/// Makes work that is put on `stream` from now on wait for `event`.
void wait_for(cudaStream_t stream, const Event& event);

}  // namespace stepsim::calib::cuda
