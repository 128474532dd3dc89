// Finds the operator that launched each kernel of a product, and puts alike ones together.
#include "sim/recording/products/products.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "sim/cluster/kernel_time.hpp"
#include "sim/recording/products/product.hpp"
#include "sim/recording/products/product_launches.hpp"

namespace stepsim {
namespace {

constexpr std::uint64_t kNoCall = ~std::uint64_t{0};

/// A kernel that multiplies, with the innermost operator of a product around its launch.
struct KernelOfCall {
  std::uint32_t activity = 0, shape = 0;
  std::uint64_t call = kNoCall;  ///< its number among all of the recording; kNoCall: none is known
};

std::vector<KernelOfCall> kernels_of_calls(const Recording& recording, const KindByName& kinds) {
  std::vector<bool> is_product(recording.shapes.size());
  for (std::size_t i = 0; i < recording.shapes.size(); ++i)
    is_product[i] = product_operator(recording.names[recording.shapes[i].name]) != nullptr;
  std::vector<KernelOfCall> kernels;
  const auto launches = product_launches(recording, kinds);
  for (std::uint64_t t = 0; t < launches.size(); ++t) {
    const auto& calls = recording.threads[t].shaped_calls;
    std::vector<std::uint32_t> open;
    std::uint32_t next = 0;
    for (const auto& [moment, activity] : launches[t]) {
      for (; next < calls.size() && calls[next].time.start <= moment; ++next) {
        if (is_product[calls[next].shape]) open.push_back(next);
      }
      while (!open.empty() && calls[open.back()].time.end < moment) open.pop_back();
      kernels.push_back(
          open.empty() ? KernelOfCall{.activity = activity}
                       : KernelOfCall{activity, calls[open.back()].shape, t << 32 | open.back()});
    }
  }
  for (std::uint32_t i = 0; i < recording.activities.size(); ++i) {
    const GpuActivity& activity = recording.activities[i];
    if (activity.work == GpuWork::kernel && !activity.launch && multiplies(kinds[activity.name]))
      kernels.push_back({.activity = i});
  }
  return kernels;
}

bool has_precision(const GpuProfile& gpu, Precision precision) {
  return std::ranges::find(gpu.gemm, precision, &GemmProfile::precision) != gpu.gemm.end();
}

/// What a kernel of the profile multiplies in: a convolution of pictures may be computed in fp32.
Precision computed(const Work& work, Precision precision) {
  const auto* const convolution = std::get_if<Convolution>(&work);
  return convolution == nullptr ? precision : convolution->computed();
}

std::optional<Seconds> attainable(const Product& product, Precision precision,
                                  const GpuProfile* gpu) {
  if (gpu == nullptr || product.works.empty()) return std::nullopt;
  Seconds time;
  for (const Work& work : product.works) {
    if (!has_precision(*gpu, computed(work, precision))) return std::nullopt;
    time += kernel_time(work, *gpu);
  }
  return time;
}

/// A call's product; alike calls share one.
struct KnownProduct {
  Precision precision = Precision::fp32;
  std::optional<Product> product;
  std::optional<Seconds> attainable;  ///< of a call
};

/// Products by the shape of the operator and the name of the kernel, which says the type.
class ProductBook {
 public:
  ProductBook(const Recording& recording, const GpuProfile* gpu)
      : recording_(recording), gpu_(gpu), outputs_(output_sizes(recording)) {}

  const KnownProduct& of(std::uint32_t shape, std::uint32_t kernel) {
    const auto [entry, is_new] = known_.try_emplace({shape, kernel});
    if (is_new) entry->second = made(recording_.shapes[shape], recording_.names[kernel]);
    return entry->second;
  }

 private:
  KnownProduct made(const RecordedShape& shape, const std::string& kernel) const {
    KnownProduct known;
    const std::optional<Precision> precision = precision_of(shape, kernel);
    const ProductOperator* const operation = product_operator(recording_.names[shape.name]);
    if (!precision || operation == nullptr) return known;
    known.precision = *precision;
    known.product = product_of(*operation, shape, *precision, outputs_);
    if (known.product) known.attainable = attainable(*known.product, *precision, gpu_);
    return known;
  }

  const Recording& recording_;
  const GpuProfile* gpu_;
  OutputSizes outputs_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, KnownProduct> known_;
};

/// The kernels of one call together. The longest one's name says the type, for others only prepare.
struct CallTime {
  std::uint32_t shape = 0, longest = 0;  ///< an activity
  Nanoseconds start = 0, time = 0;
};

std::map<std::uint64_t, CallTime> call_times(const Recording& recording,
                                             const std::vector<KernelOfCall>& kernels) {
  std::map<std::uint64_t, CallTime> calls;
  for (const KernelOfCall& kernel : kernels) {
    if (kernel.call == kNoCall) continue;
    const Interval time = recording.activities[kernel.activity].time;
    const auto [entry, is_new] =
        calls.try_emplace(kernel.call, CallTime{kernel.shape, kernel.activity, time.start, 0});
    CallTime& call = entry->second;
    if (time.length() > recording.activities[call.longest].time.length())
      call.longest = kernel.activity;
    call.start = std::min(call.start, time.start);
    call.time += time.length();
  }
  return calls;
}

bool is_within(Nanoseconds moment, Interval window) {
  return window.start <= moment && moment < window.end;
}

/// Puts the calls of a window together.
class ProductSums {
 public:
  explicit ProductSums(const GpuProfile* gpu) : gpu_(gpu) {
    if (gpu == nullptr) return;
    result_.profile = gpu->name;
    result_.at_peak = Seconds{};
  }

  void add(const KnownProduct& known, Nanoseconds time) {
    if (!known.product) return add_unknown(time);
    const auto [entry, is_new] = times_.try_emplace({known.product->title, known.precision});
    ProductTime& sum = entry->second;
    if (is_new) {
      sum.title = known.product->title;
      sum.precision = known.precision;
      sum.attainable = Seconds{};
    }
    ++sum.calls;
    sum.seconds += seconds_of(time);
    sum.flops += known.product->flops;
    add(sum.attainable, known.attainable);
    result_.flops += known.product->flops;
    std::optional<Seconds> at_peak;
    if (gpu_ != nullptr && has_precision(*gpu_, known.precision))
      at_peak = known.product->flops / peak_rate(*gpu_, known.precision);
    add(result_.at_peak, at_peak);
  }
  void add_unknown(Nanoseconds time) { result_.unknown_s += seconds_of(time); }

  Products take() {
    for (auto& [key, time] : times_) result_.times.push_back(std::move(time));
    std::ranges::stable_sort(result_.times, std::ranges::greater{}, &ProductTime::seconds);
    return std::move(result_);
  }

 private:
  /// A sum is known where all of its parts are.
  static void add(std::optional<Seconds>& sum, const std::optional<Seconds>& part) {
    if (sum && part) {
      *sum += *part;
    } else {
      sum.reset();
    }
  }

  const GpuProfile* gpu_;
  std::map<std::pair<std::string, Precision>, ProductTime> times_;
  Products result_;
};

}  // namespace

double Products::known_s() const {
  double seconds = 0;
  for (const ProductTime& time : times) seconds += time.seconds;
  return seconds;
}

Products products_of(const Recording& recording, const KindByName& kinds, Interval window,
                     const GpuProfile* gpu) {
  ProductBook book(recording, gpu);
  ProductSums sums(gpu);
  const std::vector<KernelOfCall> kernels = kernels_of_calls(recording, kinds);
  for (const KernelOfCall& kernel : kernels) {
    const Interval time = recording.activities[kernel.activity].time;
    if (kernel.call == kNoCall && is_within(time.start, window)) sums.add_unknown(time.length());
  }
  for (const auto& [number, call] : call_times(recording, kernels)) {
    if (is_within(call.start, window))
      sums.add(book.of(call.shape, recording.activities[call.longest].name), call.time);
  }
  return sums.take();
}

std::vector<float> attainable_shares(const Recording& recording, const KindByName& kinds,
                                     const GpuProfile* gpu) {
  std::vector<float> shares(recording.activities.size(), 1);
  if (gpu == nullptr) return shares;
  ProductBook book(recording, gpu);
  const std::vector<KernelOfCall> kernels = kernels_of_calls(recording, kinds);
  const std::map<std::uint64_t, CallTime> calls = call_times(recording, kernels);
  for (const KernelOfCall& kernel : kernels) {
    if (kernel.call == kNoCall) continue;
    const CallTime& call = calls.at(kernel.call);
    const KnownProduct& known = book.of(call.shape, recording.activities[call.longest].name);
    const double seconds = seconds_of(call.time);
    if (known.attainable && known.attainable->seconds() < seconds)
      shares[kernel.activity] = static_cast<float>(known.attainable->seconds() / seconds);
  }
  return shares;
}

}  // namespace stepsim
