// What a model lives on: memory, kernels over it, and sums over the ranks.
//
// One implementation a program: cpu_device.cpp (OpenBLAS, loops, MPI) or cuda_device.cpp (cuBLASLt,
// CUDA, NCCL). Everything else of the trainer is the same.
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

/// Memory of a device.
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

/// What a device cannot be asked to do; what() is the reason.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Kernels run in the order of their calls, and may still run when these return. Pointers are to
/// memory of the device, where nothing else is said.
class Device {
 public:
  virtual ~Device() = default;

  /// Of its memory, which the rank may still take; 0: unknown.
  virtual double free_bytes() const = 0;
  /// Of its memory, what a training takes beside allocate() when the host keeps that many bytes.
  virtual double bytes_beside(double host_bytes) const = 0;

  /// Zeros.
  virtual Floats allocate(std::size_t count) = 0;
  /// From the host's memory, which may be used again when it returns.
  virtual void upload(const float* from, float* to, std::size_t count) = 0;
  /// To the host's memory, when all before it is done.
  virtual void download(const float* from, float* to, std::size_t count) = 0;
  virtual void wait() = 0;

  /// As cpu::multiply.
  virtual void multiply(cpu::Pass pass, const cpu::Product& shape, const float* a, const float* b,
                        float* c, bool accumulate) = 0;
  /// As the loops of that name (calib/cpu/loops.hpp).
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
  /// What the last squared_error() summed; waits for it.
  virtual double error_sum() = 0;

  /// Sums over all ranks, in place, once the kernels before it are done, beside those after it.
  /// REQUIRES: the same order and counts on all ranks; nothing touches the values until
  /// finish_sums().
  virtual void start_sum(float* values, std::size_t count) = 0;
  /// To be called between kernels: where the caller itself moves the sums, it does so here.
  virtual void progress() = 0;
  /// Kernels after it see all sums.
  virtual void finish_sums() = 0;
};

/// The one that this program was built for. Throws Refusal where this machine has too few.
std::unique_ptr<Device> make_device(const cpu::Ranks& ranks);

/// Empty, or why there is none on this machine, as a sentence.
std::string why_no_device();

/// "stepsim-train", and what it trains on.
extern const char* const kProgramName;
extern const char* const kDeviceName;

}  // namespace stepsim::trainer
