// Finds the operator that launched each kernel of a product, and puts alike ones together.
#include "sim/recording/products/products.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "sim/cluster/kernel_time.hpp"
#include "sim/recording/products/product.hpp"

namespace stepsim {
namespace {

/// A call of an operator by its number among all of the recording.
struct CallOfKernel {
  std::uint32_t activity = 0, shape = 0;
  std::uint64_t call = 0;
};

bool multiplies(KernelKind kind) {
  return kind == KernelKind::gemm || kind == KernelKind::convolution ||
         kind == KernelKind::attention;
}

/// Kernels that multiply, by the thread that launched them, in order of their launches.
using Launch = std::pair<Nanoseconds, std::uint32_t>;
std::vector<std::vector<Launch>> launches_of(const Recording& recording, const KindByName& kinds) {
  std::vector<std::vector<Launch>> launches(recording.threads.size());
  for (std::uint32_t i = 0; i < recording.activities.size(); ++i) {
    const GpuActivity& activity = recording.activities[i];
    if (activity.work != GpuWork::kernel || !activity.launch || !multiplies(kinds[activity.name]))
      continue;
    launches[activity.launch->thread].emplace_back(recording.at(*activity.launch).time.start, i);
  }
  for (auto& of_thread : launches) std::ranges::sort(of_thread);
  return launches;
}

/// The innermost operator of a product around each launch.
std::vector<CallOfKernel> calls_of_kernels(const Recording& recording, const KindByName& kinds) {
  std::vector<CallOfKernel> found;
  const auto launches = launches_of(recording, kinds);
  for (std::uint64_t t = 0; t < launches.size(); ++t) {
    const auto& calls = recording.threads[t].shaped_calls;
    std::vector<std::uint32_t> open;
    std::uint32_t next = 0;
    for (const auto& [moment, activity] : launches[t]) {
      for (; next < calls.size() && calls[next].time.start <= moment; ++next) {
        if (is_product(recording.names[recording.shapes[calls[next].shape].name]))
          open.push_back(next);
      }
      while (!open.empty() && calls[open.back()].time.end < moment) open.pop_back();
      if (!open.empty())
        found.push_back({activity, calls[open.back()].shape, t << 32 | open.back()});
    }
  }
  return found;
}

bool has_precision(const GpuProfile& gpu, Precision precision) {
  return std::ranges::find(gpu.gemm, precision, &GemmProfile::precision) != gpu.gemm.end();
}

/// What a kernel of the profile multiplies in: a convolution of images may be computed in fp32.
Precision computed(const Work& work, Precision precision) {
  const auto* const convolution = std::get_if<Convolution>(&work);
  return convolution == nullptr ? precision : convolution->computed();
}

double attainable(const Product& product, Precision precision, const GpuProfile* gpu) {
  double seconds = 0;
  for (const Work& work : product.works) {
    if (gpu == nullptr || !has_precision(*gpu, computed(work, precision))) return 0;
    seconds += kernel_time(work, *gpu).seconds();
  }
  return seconds;
}

/// A call's product; alike calls share one.
struct KnownProduct {
  std::optional<Precision> precision;
  std::optional<Product> product;
  double attainable_s = 0;  ///< of a call; 0: not known
};

class ProductBook {
 public:
  ProductBook(const Recording& recording, const GpuProfile* gpu)
      : recording_(recording), gpu_(gpu), edges_(output_edges(recording)) {}

  const KnownProduct& of(const CallOfKernel& kernel) {
    const std::uint32_t name = recording_.activities[kernel.activity].name;
    const auto [entry, is_new] = known_.try_emplace({kernel.shape, name});
    if (is_new) entry->second = made(recording_.shapes[kernel.shape], recording_.names[name]);
    return entry->second;
  }

 private:
  KnownProduct made(const RecordedShape& shape, const std::string& kernel) const {
    KnownProduct known{.precision = precision_of(shape, kernel)};
    if (!known.precision) return known;
    known.product = product_of(recording_.names[shape.name], shape, *known.precision, edges_);
    if (known.product) known.attainable_s = attainable(*known.product, *known.precision, gpu_);
    return known;
  }

  const Recording& recording_;
  const GpuProfile* gpu_;
  OutputEdges edges_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, KnownProduct> known_;
};

/// Kernels of one call are put together: the first that says a product counts, and the others add
/// their time.
class CallTimes {
 public:
  void add(const CallOfKernel& kernel, const KnownProduct& known, double seconds) {
    auto& [of, time] = calls_[kernel.call];
    if (of == nullptr || !of->product) of = &known;
    time += seconds;
  }
  const auto& all() const { return calls_; }

 private:
  std::map<std::uint64_t, std::pair<const KnownProduct*, double>> calls_;
};

}  // namespace

Products products_of(const Recording& recording, const KindByName& kinds, Interval window,
                     const GpuProfile* gpu) {
  Products result;
  if (gpu != nullptr) result.profile = gpu->name;
  ProductBook book(recording, gpu);
  CallTimes calls;
  for (const CallOfKernel& kernel : calls_of_kernels(recording, kinds)) {
    const Interval time = recording.activities[kernel.activity].time;
    if (time.start < window.start || time.start >= window.end) continue;
    calls.add(kernel, book.of(kernel), static_cast<double>(time.length()) * 1e-9);
  }
  std::map<std::pair<std::string, Precision>, ProductTime> times;
  bool has_peaks = gpu != nullptr;
  for (const auto& [call, of] : calls.all()) {
    const auto& [known, seconds] = of;
    if (!known->product) continue;
    ProductTime& time = times[{known->product->title, *known->precision}];
    time.title = known->product->title;
    time.precision = *known->precision;
    ++time.calls;
    time.seconds += seconds;
    time.flops += known->product->flops;
    time.attainable_s += known->attainable_s;
    result.flops += known->product->flops;
    has_peaks = has_peaks && has_precision(*gpu, *known->precision);
    if (has_peaks)
      result.peak_s +=
          known->product->flops / peak_rate(*gpu, *known->precision).flops_per_second();
  }
  if (!has_peaks) result.peak_s = 0;
  for (auto& [key, time] : times) result.times.push_back(std::move(time));
  std::ranges::stable_sort(result.times, std::ranges::greater{}, &ProductTime::seconds);
  return result;
}

std::vector<float> attainable_shares(const Recording& recording, const KindByName& kinds,
                                     const GpuProfile* gpu) {
  std::vector<float> shares(recording.activities.size(), 1);
  if (gpu == nullptr) return shares;
  ProductBook book(recording, gpu);
  CallTimes calls;
  const std::vector<CallOfKernel> kernels = calls_of_kernels(recording, kinds);
  for (const CallOfKernel& kernel : kernels)
    calls.add(kernel, book.of(kernel),
              static_cast<double>(recording.activities[kernel.activity].time.length()) * 1e-9);
  for (const CallOfKernel& kernel : kernels) {
    const auto& [known, seconds] = calls.all().at(kernel.call);
    if (known->attainable_s > 0 && seconds > known->attainable_s)
      shares[kernel.activity] = static_cast<float>(known->attainable_s / seconds);
  }
  return shares;
}

}  // namespace stepsim
