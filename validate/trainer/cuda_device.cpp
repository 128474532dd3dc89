// Trains on a GPU: cuBLASLt and the kernels of calib/cuda run on one stream, NCCL on another.
#include <map>
#include <stdexcept>
#include <tuple>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#ifdef STEPSIM_NCCL
#include <nccl.h>
#endif

#include "calib/cuda/device.hpp"
#include "calib/cuda/handles.hpp"
#include "calib/cuda/loops.hpp"
#include "calib/cuda/product.hpp"
#include "validate/trainer/device.hpp"

namespace stepsim::trainer {
namespace {

using calib::cuda::check;
using calib::cuda::DeviceBuffer;
using calib::cuda::Event;
using calib::cuda::Stream;

/// Sums over the ranks by NCCL, whose kernels run beside others.
class Sums {
 public:
#ifdef STEPSIM_NCCL
  explicit Sums(const cpu::Ranks& ranks) {
    if (ranks.size() == 1) return;
    ncclUniqueId id = {};
    if (ranks.rank() == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    ranks.of_first(&id, sizeof id);
    check_nccl(ncclCommInitRank(&communicator_, ranks.size(), id, ranks.rank()),
               "ncclCommInitRank");
  }
  ~Sums() {
    if (communicator_ != nullptr) (void)ncclCommDestroy(communicator_);
  }
  void start(float* values, std::size_t count, cudaStream_t stream) const {
    if (communicator_ == nullptr) return;
    check_nccl(ncclAllReduce(values, values, count, ncclFloat, ncclSum, communicator_, stream),
               "ncclAllReduce");
  }

 private:
  static void check_nccl(ncclResult_t result, const char* call) {
    if (result != ncclSuccess)
      throw calib::cuda::CudaFailure(fmt::format("{}: {}", call, ncclGetErrorString(result)));
  }
  ncclComm_t communicator_ = nullptr;
#else
  explicit Sums(const cpu::Ranks& ranks) {
    if (ranks.size() > 1)
      throw std::runtime_error("built without NCCL, which several ranks need: start one");
  }
  void start(float*, std::size_t, cudaStream_t) const {}
#endif

 public:
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;
};

/// Chooses a GPU for each rank of this machine. To be called before the first stream is made.
int use_device_of(const cpu::Ranks& ranks) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  const cpu::Ranks::Here here = ranks.here();
  if (here.size > count)
    throw Refusal(fmt::format("a rank takes a GPU, and this machine has {} for {} ranks: start {}",
                              count, here.size, count));
  check(cudaSetDevice(here.rank), "cudaSetDevice");
  return here.rank;
}

Transpose transpose_of(cpu::Pass pass) {
  switch (pass) {
    case cpu::Pass::forward:
      return Transpose::TN;
    case cpu::Pass::input_gradient:
      return Transpose::NN;
    case cpu::Pass::weight_gradient:
      return Transpose::NT;
  }
  throw std::logic_error("a pass without a layout");
}

class CudaDevice : public Device {
 public:
  explicit CudaDevice(const cpu::Ranks& ranks)
      : device_(use_device_of(ranks)),
        error_sum_(sizeof(double)),
        workspace_(calib::cuda::Product::kWorkspaceBytes),
        sums_(ranks) {}

  double free_bytes() const override { return static_cast<double>(calib::cuda::free_memory()); }
  // the device took everything when it was made
  double bytes_beside(double) const override { return 0; }

  Floats allocate(std::size_t count) override {
    const auto buffer = std::make_shared<DeviceBuffer>(count * sizeof(float));
    check(cudaMemset(buffer->data(), 0, count * sizeof(float)), "cudaMemset");
    // Waits, because cudaMemset may end later than it returns, and streams do not wait for it.
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return {{buffer, reinterpret_cast<float*>(buffer->data())}, count};
  }
  void upload(const float* from, float* to, std::size_t count) override {
    check(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyHostToDevice, compute_),
          "cudaMemcpyAsync");
  }
  void download(const float* from, float* to, std::size_t count) override {
    check(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToHost, compute_),
          "cudaMemcpyAsync");
    compute_.wait();
  }
  void wait() override { compute_.wait(); }

  void multiply(cpu::Pass pass, const cpu::Product& shape, const float* a, const float* b, float* c,
                bool accumulate) override {
    const calib::cuda::Alignments alignments{
        calib::cuda::alignment_of(b), calib::cuda::alignment_of(a), calib::cuda::alignment_of(c)};
    product(pass, shape, accumulate, alignments).enqueue(compute_, b, a, c, workspace_.data());
  }
  void relu(const float* x, float* y, std::size_t count) override {
    calib::cuda::relu(x, y, count, compute_);
  }
  void relu_backward(const float* x, const float* output_gradient, float* input_gradient,
                     std::size_t count) override {
    calib::cuda::relu_backward(x, output_gradient, input_gradient, count, compute_);
  }
  void scale(float* x, float factor, std::size_t count) override {
    calib::cuda::scale(x, factor, count, compute_);
  }
  void clear(float* x, std::size_t count) override {
    check(cudaMemsetAsync(x, 0, count * sizeof(float), compute_), "cudaMemsetAsync");
  }
  void squared_error(const float* output, const float* target, float* difference,
                     std::size_t count) override {
    check(cudaMemsetAsync(error_sum_.data(), 0, sizeof(double), compute_), "cudaMemsetAsync");
    calib::cuda::squared_error(output, target, difference,
                               reinterpret_cast<double*>(error_sum_.data()), count, compute_);
  }
  void squared_error_backward(const float* output, const float* target, float* gradient,
                              float factor, std::size_t count) override {
    calib::cuda::squared_error_backward(output, target, gradient, factor, count, compute_);
  }
  void adam(const cpu::AdamState& s, float learning_rate, int step, std::size_t count) override {
    calib::cuda::adam({s.weights, s.gradients, s.first_moment, s.second_moment}, learning_rate,
                      step, count, compute_);
  }
  double error_sum() override {
    double sum = 0;
    check(cudaMemcpyAsync(&sum, error_sum_.data(), sizeof sum, cudaMemcpyDeviceToHost, compute_),
          "cudaMemcpyAsync");
    compute_.wait();
    return sum;
  }

  void start_sum(float* values, std::size_t count) override {
    ready_.record(compute_);
    calib::cuda::wait_for(communication_, ready_);
    sums_.start(values, count, communication_);
  }
  void progress() override {}  // the GPU moves the sums by itself
  void finish_sums() override {
    summed_.record(communication_);
    calib::cuda::wait_for(compute_, summed_);
  }

 private:
  using Key = std::tuple<cpu::Pass, std::int64_t, std::int64_t, std::int64_t, bool,
                         calib::cuda::Alignments>;

  const calib::cuda::Product& product(cpu::Pass pass, const cpu::Product& shape, bool accumulate,
                                      const calib::cuda::Alignments& alignments) {
    auto& product = products_[Key{pass, shape.m, shape.n, shape.k, accumulate, alignments}];
    if (!product)
      product = std::make_unique<calib::cuda::Product>(
          GemmPoint{Precision::fp32, transpose_of(pass), shape.m, shape.n, shape.k, 1, accumulate},
          alignments);
    return *product;
  }

  [[maybe_unused]] int device_;  // first member: streams belong to the device that is in use
  Stream compute_, communication_;
  Event ready_, summed_;
  DeviceBuffer error_sum_;
  DeviceBuffer workspace_;  // shared by all products, which run one after the other
  std::map<Key, std::unique_ptr<calib::cuda::Product>> products_;
  Sums sums_;
};

}  // namespace

const char* const kProgramName = "stepsim-train-cuda";
const char* const kDeviceName = "GPU";

std::unique_ptr<Device> make_device(const cpu::Ranks& ranks) {
  return std::make_unique<CudaDevice>(ranks);
}

std::string why_no_device() { return calib::cuda::why_no_device(0); }

}  // namespace stepsim::trainer
