// Trains on a core of this machine: the kernels of calib/cpu run one after the other, and MPI
// between them.
#include <algorithm>
#include <new>

#include <unistd.h>

#include "validate/trainer/device.hpp"

namespace stepsim::trainer {
namespace {

/// The alignment of AVX-512's vectors.
constexpr std::align_val_t kAlignment{64};

class CpuDevice : public Device {
 public:
  explicit CpuDevice(const cpu::Ranks& ranks) : sums_(ranks) {}

  double free_bytes() const override {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<double>(sysconf(_SC_PAGESIZE));
  }
  double bytes_beside(double host_bytes) const override { return host_bytes; }

  Floats allocate(std::size_t count) override {
    auto* const memory = static_cast<float*>(::operator new(count * sizeof(float), kAlignment));
    std::fill_n(memory, count, 0.0F);
    return {{memory, [](float* all) { ::operator delete(all, kAlignment); }}, count};
  }
  void upload(const float* from, float* to, std::size_t count) override {
    cpu::copy(from, to, count);
  }
  void download(const float* from, float* to, std::size_t count) override {
    cpu::copy(from, to, count);
  }
  void wait() override {}

  void multiply(cpu::Pass pass, const cpu::Product& shape, const float* a, const float* b, float* c,
                bool accumulate) override {
    cpu::multiply(pass, shape, a, b, c, accumulate);
  }
  void relu(const float* x, float* y, std::size_t count) override { cpu::relu(x, y, count); }
  void relu_backward(const float* x, const float* output_gradient, float* input_gradient,
                     std::size_t count) override {
    cpu::relu_backward(x, output_gradient, input_gradient, count);
  }
  void scale(float* x, float factor, std::size_t count) override { cpu::scale(x, factor, count); }
  void clear(float* x, std::size_t count) override { cpu::clear(x, count); }
  void squared_error(const float* output, const float* target, float* difference,
                     std::size_t count) override {
    error_sum_ = cpu::squared_error(output, target, difference, count);
  }
  void squared_error_backward(const float* output, const float* target, float* gradient,
                              float factor, std::size_t count) override {
    cpu::squared_error_backward(output, target, gradient, factor, count);
  }
  void adam(const cpu::AdamState& state, float learning_rate, int step,
            std::size_t count) override {
    cpu::adam(state, learning_rate, step, count);
  }
  double error_sum() override { return error_sum_; }

  void start_sum(float* values, std::size_t count) override { sums_.start(values, count); }
  void progress() override { sums_.progress(); }
  void finish_sums() override { sums_.finish(); }

 private:
  cpu::AllReduces sums_;
  double error_sum_ = 0;
};

}  // namespace

const char* const kProgramName = "stepsim-train";
const char* const kDeviceName = "CPU";

std::unique_ptr<Device> make_device(const cpu::Ranks& ranks) {
  cpu::use_one_thread();
  return std::make_unique<CpuDevice>(ranks);
}

std::string why_no_device() { return ""; }

}  // namespace stepsim::trainer
