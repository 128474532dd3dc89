// Calls the function that measures a kind of point.
#include "calib/cuda/laboratory.hpp"

#include "calib/cuda/device.hpp"
#include "calib/cuda/measure.hpp"
#include "calib/harness/not_offered.hpp"

namespace stepsim::calib::cuda {
namespace {

struct Dispatch {
  const DeviceFacts& device;
  Team& team;
  Measured operator()(const GemmPoint& point) const { return measure_gemm(point, device); }
  Measured operator()(const MemoryOpPoint& point) const { return measure_memory(point, device); }
  Measured operator()(const AttentionPoint&) const {
    throw NotOffered("the harness cannot measure attention yet");
  }
  Measured operator()(const ConvolutionPoint&) const {
    throw NotOffered("the harness cannot measure convolutions yet");
  }
  Measured operator()(const FileReadPoint&) const { throw NotOffered("no GPU reads files"); }
  Measured operator()(const DecodePoint&) const {
    throw NotOffered("the harness decodes on CPUs only");
  }
  Measured operator()(const LaunchPoint& point) const { return measure_launch(point); }
  Measured operator()(const QueuePoint&) const { return measure_queue(); }
  Measured operator()(const CopyPoint& point) const { return measure_copy(point); }
  Measured operator()(const OverlapPoint& point) const { return measure_overlap(point, team); }
  Measured operator()(const CollectivePoint& point) const {
    return measure_collective(point, team);
  }
};

}  // namespace

Laboratory::Laboratory(int device)
    : nvml_(bus_id_of(device)),
      facts_(read_device(device, nvml_)),
      team_(device, static_cast<int>(facts_.gpus)) {
  check(cudaSetDevice(device), "cudaSetDevice");
}

Versions Laboratory::versions() const { return read_versions(nvml_); }

Libraries Laboratory::libraries() {
  Libraries libraries;
#ifdef STEPSIM_NCCL
  libraries.collectives = true;
#endif
  return libraries;
}

Measured Laboratory::measure(const Point& point) {
  Measured measured = std::visit(Dispatch{facts_, team_}, point);
  measured.sm_clock_hz = nvml_.sm_clock_hz();
  measured.power_w = nvml_.power_w();
  return measured;
}

}  // namespace stepsim::calib::cuda
