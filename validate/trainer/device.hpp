// What a model lives on: memory, kernels over it, and sums over the ranks.
//
// Each program has one implementation: cpu_device.cpp (OpenBLAS, loops, MPI) or cuda_device.cpp
// (cuBLASLt, CUDA, NCCL). The rest of the trainer is common to both.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "calib/cpu/gemm.hpp"
#include "calib/cpu/loops.hpp"
#include "calib/cpu/ranks.hpp"

namespace stepsim::trainer {

/// Memory of a device, as floats.
class Floats {
 public:
  Floats() = default;
  Floats(std::shared_ptr<float> memory, std::size_t size)
      : memory_(std::move(memory)), size_(size) {}
  float* data() const { return memory_.get(); }
  std::span<float> all() const { return {memory_.get(), size_}; }

 private:
  std::shared_ptr<float> memory_;
  std::size_t size_ = 0;
};

/// Thrown for what a device cannot do; what() is the reason.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A device. Kernels run in the order of their calls, and may still run when the calls return.
/// Pointers are to memory of the device, where nothing else is said.
class Device {
 public:
  virtual ~Device() = default;

  /// The bytes of the device's memory that the rank may still take; 0: unknown.
  virtual double free_bytes() const = 0;
  /// The bytes of the device's memory that a training takes beside allocate() when the host keeps
  /// `host_bytes`.
  virtual double bytes_beside(double host_bytes) const = 0;

  /// Allocates floats that are 0.
  virtual Floats allocate(std::size_t count) = 0;
  /// Copies from the host's memory, which may be used again when this returns.
  virtual void upload(const float* from, float* to, std::size_t count) = 0;
  /// Copies to the host's memory, when all kernels before it are done.
  virtual void download(const float* from, float* to, std::size_t count) = 0;
  virtual void wait() = 0;

  /// Multiplies as cpu::multiply does.
  virtual void multiply(cpu::Pass pass, const cpu::Product& shape, const float* a, const float* b,
                        float* c, bool accumulate) = 0;
  /// Runs the loop that has this name in calib/cpu/loops.hpp, and so do the functions below.
  virtual void relu(const float* x, float* y, std::size_t count) = 0;
  virtual void relu_backward(const float* x, const float* output_gradient, float* input_gradient,
                             std::size_t count) = 0;
  virtual void scale(float* x, float factor, std::size_t count) = 0;
  virtual void clear(float* x, std::size_t count) = 0;
  virtual void squared_error(const float* output, const float* target, float* difference,
                             std::size_t count) = 0;
  virtual void squared_error_backward(const float* output, const float* target, float* gradient,
                                      float factor, std::size_t count) = 0;
  virtual void adam(const cpu::AdamState& state, float learning_rate, int step,
                    std::size_t count) = 0;
  /// The sum of the last squared_error(); waits for it.
  virtual double error_sum() = 0;

  /// Begins a sum over all ranks, in place. It runs once the kernels before it are done, beside
  /// those after it. REQUIRES: equal order and counts on all ranks; nothing touches the values
  /// until finish_sums().
  virtual void start_sum(float* values, std::size_t count) = 0;
  /// To be called between kernels: where the caller itself moves the sums, it does so in this call.
  virtual void progress() = 0;
  /// Makes kernels after this call see all sums.
  virtual void finish_sums() = 0;
};

/// The device for which this program was built. Throws Refusal where this machine has too few.
std::unique_ptr<Device> make_device(const cpu::Ranks& ranks);

/// Why there is no device on this machine, in a sentence; empty where there is one.
std::string why_no_device();

/// The program's name, "stepsim-train" for one, and what it trains on.
extern const char* const kProgramName;
extern const char* const kDeviceName;

}  // namespace stepsim::trainer
