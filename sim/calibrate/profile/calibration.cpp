// Which profile to start from, what each family gives, and the check that stepsim reads the result.
#include "sim/calibrate/profile/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/calibrate/measurement/peak.hpp"
#include "sim/calibrate/measurement/work.hpp"
#include "sim/calibrate/profile/fit_fabric.hpp"
#include "sim/calibrate/profile/fittable_points.hpp"
#include "sim/calibrate/profile/nearest_gpu.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/import/node/known_gpu.hpp"
#include "sim/import/node/observed_node.hpp"
#include "sim/plan/group/collective_speed.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

// No GPU is that many times as fast as the nearest one that is known: V100 and B200 are 20 times
// apart. A slip in the unit is 1000.
constexpr double kOtherUnit = 100;

std::string few_text(const FewPoints& family) {
  if (family.needed == 0)
    return fmt::format("{} point{}, of which no profile has a constant", family.points,
                       family.points == 1 ? "" : "s");
  return fmt::format("{} point{} of {}, a fit needs at least {}", family.points,
                     family.points == 1 ? "" : "s", family.family, family.needed);
}

std::string why_none_is_near(const DeviceFacts& device) {
  if (device.name.empty()) return "the measurements do not say of which GPU they are";
  const std::vector<std::string> known = known_gpus();
  const bool is_known = std::ranges::any_of(
      known, [&](const std::string& profile) { return is_named(device.name, profile); });
  if (is_known)
    return fmt::format("the measurements do not say how much memory '{}' has", device.name);
  return fmt::format(
      "'{}' is like no GPU that stepsim has a profile of (a CPU is measured and fitted by `stepsim "
      "calibrate cpu`)",
      device.name);
}

std::string base_for(const CalibrationRequest& request, const DeviceFacts& device,
                     const Library& library) {
  if (!request.base.empty()) return request.base;
  std::string nearest = nearest_profile(device, library);
  if (nearest.empty())
    throw UserError(fmt::format(
        "{}, so there is nothing to take the rest from: name a profile with --base ({})",
        why_none_is_near(device), one_of(known_gpus())));
  return nearest;
}

/// The device of the files that name one; all have to name the same.
DeviceFacts device_of(const std::vector<MeasuredFile>& files) {
  const MeasuredFile* first = nullptr;
  for (const MeasuredFile& file : files) {
    if (file.content.device.name.empty()) continue;
    if (first != nullptr && first->content.device.name != file.content.device.name)
      throw UserError(fmt::format("{} is of '{}', but {} of '{}': a profile is of one GPU",
                                  file.name, file.content.device.name, first->name,
                                  first->content.device.name));
    if (first == nullptr) first = &file;
  }
  return first == nullptr ? DeviceFacts{} : first->content.device;
}

/// What can be fitted; throws where that is nothing, as there are too few points of each family.
Records fittable_records(const std::vector<MeasuredFile>& files, std::vector<FewPoints>& few) {
  Records records = fittable(files, few);
  if (!records.empty()) return records;
  if (few.empty()) throw UserError("the files have no measured points");
  Problems problems;
  for (const FewPoints& family : few)
    if (family.needed > 0) problems.add(family.first, "", few_text(family));
  problems.throw_if_any();
  return records;
}

/// The origin of constants that are fitted to a kind of points: the files that have such points.
ProfileOrigin origin_of(const std::vector<MeasuredFile>& files, PointKind kind) {
  std::vector<std::string> names;
  ProfileOrigin origin{.device = device_of(files).name};
  for (const MeasuredFile& file : files) {
    const auto& records = file.content.records;
    if (std::ranges::none_of(
            records, [&](const PointRecord& record) { return kind_of(record.point) == kind; }))
      continue;
    names.push_back(file.name.substr(file.name.find_last_of('/') + 1));
    if (origin.date.empty()) origin.date = file.content.started.substr(0, 10);
  }
  origin.files = fmt::format("{}", fmt::join(names, ", "));
  return origin;
}

// Judgement: drivers report up to 7 % less or more than datasheets (185 GiB of a GB200's 186 GB),
// and memories of one chip are further apart (80 and 94 GB of H100).
constexpr double kSameMemory = 0.1;

/// Whether it is the very GPU of the profile, not another card of its name. What is not known (0)
/// does not tell them apart.
bool is_same(const DeviceFacts& device, const GpuProfile& gpu) {
  const double memory = static_cast<double>(device.memory_bytes) / gpu.memory.bytes();
  return is_named(device.name, gpu.name) && (device.sms == 0 || device.sms == gpu.sms) &&
         (memory == 0 || std::abs(memory - 1) < kSameMemory);
}

/// SMs and memory as the driver reports them, and of another GPU than the base the bandwidth and
/// the peaks that follow from its clocks: better than what a relative's datasheet says.
void take_facts(const DeviceFacts& device, GpuDraft& draft) {
  GpuProfile& gpu = draft.profile;
  const bool is_other = !is_same(device, gpu);
  const auto state = [&](const std::string& path, const std::string& id, const char* how) {
    draft.state(path, id, how + device.name);
  };
  if (device.sms > 0 && device.sms != gpu.sms) {
    gpu.sms = static_cast<int>(device.sms);
    state("sms", "device", "as the driver reports: ");
  }
  if (device.memory_bytes > 0) {
    gpu.memory = Bytes{static_cast<double>(device.memory_bytes)};
    state("memory", "device", "as the driver reports: ");
  }
  if (const auto pins = peak_bytes_per_s(device); pins && is_other) {
    gpu.memory_bandwidth = BytesPerSecond{*pins};
    state("memory_bandwidth", "device-pins",
          "derived: width of the memory's bus x clock x 2, as the driver reports them: ");
  }
  for (GemmProfile& gemm : gpu.gemm) {
    const auto peak = peak_flops_per_s(device, gemm.precision);
    if (!peak || !is_other) continue;
    gemm.peak = FlopsPerSecond{*peak};
    state(fmt::format("gemm.{}.peak", name_of(gemm.precision)), "device-peaks",
          "derived: FLOPs a cycle of the architecture's white paper x SMs x the highest clock that "
          "the driver reports, which is above the datasheet's: ");
  }
}

/// Families that have too few points or none.
void report_the_rest(GpuDraft& draft, const std::string& base, const std::vector<FewPoints>& few) {
  for (const FewPoints& few_points : few) {
    const auto known = std::ranges::find_if(draft.families, [&](const FamilyReport& family) {
      return !family.fitted && family.family == few_points.family;
    });
    if (known != draft.families.end()) {
      known->remark += ": " + few_text(few_points);
      continue;
    }
    draft.not_fitted(few_points.family, few_points.path,
                     few_points.needed == 0 ? few_text(few_points)
                                            : fmt::format("as {}: {}", base, few_text(few_points)));
  }
  const auto is_fitted = [&](const std::string& path) {
    return std::ranges::any_of(draft.families, [&](const FamilyReport& family) {
      return family.path.starts_with(path) && family.path.find(".convolution") == std::string::npos;
    });
  };
  const auto add = [&](const std::string& family, const std::string& path) {
    if (is_fitted(path)) return;
    draft.not_fitted(family, path, "as " + base + ", not measured");
  };
  for (const GemmProfile& gemm : draft.profile.gemm)
    add("gemm " + name_of(gemm.precision), "gemm." + name_of(gemm.precision));
  add("memory", "memory_kernels");
  add("attention", "attention");
  add("copy pinned", "copy_pinned");
  add("copy pageable", "copy_pageable");
}

std::string title_of(const std::string& device, const std::string& base) {
  return fmt::format("{}, by stepsim calibrate fit; what was not measured is as {}.",
                     device.empty() ? "A GPU" : device, base);
}

/// The machine that such GPUs are in: the first shipped cluster with a measured link.
Cluster node_of(const std::string& base, const Library& library) {
  for (const std::string& name : names_in("scenarios/clusters", library)) {
    Cluster cluster = load_cluster(name, library);
    if (cluster.gpu.name == base && is_measured(cluster.intra_node)) return cluster;
  }
  Cluster cluster{.gpu = load_gpu(base, library), .gpus_per_node = 8};
  const KnownGpu* known = known_gpu(base);
  if (known != nullptr && !known->link.empty())
    cluster.intra_node = load_link(std::string(known->link), library);
  return cluster;
}

using Files = std::vector<MeasuredFile>;

GpuDraft gpu_draft(const Files& files, const Records& records, const CalibrationRequest& request,
                   const std::string& base, const std::vector<FewPoints>& few,
                   const Library& library) {
  const DeviceFacts device = device_of(files);
  GpuDraft draft;
  draft.profile = load_gpu(base, library);
  draft.derive_from(base);
  take_facts(device, draft);
  draft.profile.name = request.gpu;
  const std::string described = request.description.empty() ? device.name : request.description;
  if (!described.empty()) draft.profile.description = described;
  const auto of = [&](PointKind kind) { draft.origin = origin_of(files, kind); };
  of(PointKind::gemm);
  fit_gemms(records, request.seed, draft);
  of(PointKind::memory);
  fit_memory_kernels(records, request.seed, draft);
  of(PointKind::attention);
  fit_attention_kernels(records, request.seed, draft);
  of(PointKind::convolution);
  fit_convolutions(records, request.seed, draft);
  of(PointKind::copy);
  fit_host_copies(records, draft);
  of(PointKind::launch);
  fit_launches(records, draft);
  report_the_rest(draft, base, few);
  return draft;
}

LinkDraft link_draft(const Files& files, const Records& records, const std::string& name,
                     const Cluster& node) {
  LinkDraft draft;
  draft.profile = node.intra_node;
  draft.origin = origin_of(files, PointKind::collective);
  draft.derive_from(node.intra_node.name);
  draft.profile.name = name;
  fit_collectives(records, node, draft);
  if (draft.families.empty())
    throw UserError(
        "no link profile: the files have no collectives of 4 KiB or more in one node; those of "
        "several "
        "nodes make a cluster with --fabric");
  return draft;
}

/// Throws UserError where times can only be in other units than the file says.
void check_units(const Files& files, const Calibration& made) {
  Problems problems;
  for (const FamilyReport& family : made.families) {
    const double pace = family.base_errors ? family.base_errors->pace : 1;
    if (pace < kOtherUnit && pace > 1 / kOtherUnit) continue;
    const std::string far = pace > 1 ? fmt::format("{:.3g} times as long as", pace)
                                     : fmt::format("{:.3g} times as short as", 1 / pace);
    problems.add(first_point_of(files, family.family), "",
                 fmt::format("{}: its {} times are, in the mean, {} those of {}", family.family,
                             family.errors.points, far, made.base),
                 "a column in other units ends in them: time_us, time_ms");
  }
  problems.throw_if_any();
}

/// FLOP/s of the precision that a point computes in, and bytes/s where it does not compute.
double peak_rate(const Point& point, const GpuProfile& gpu) {
  if (flops_of(point) == 0) return gpu.memory_bandwidth.bytes_per_second();
  double peak = INFINITY;
  for_each_field(point, [&](const char*, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Precision>) {
      for (const GemmProfile& gemm : gpu.gemm)
        if (gemm.precision == value) peak = gemm.peak.flops_per_second();
    }
  });
  return peak;
}

/// Whether a point is faster than the datasheet. Measuring programs look at that themselves, by the
/// facts that they read.
bool is_above_peak(const PointRecord& record, const GpuProfile& gpu) {
  // For clocks in whole MHz, as sim/calibrate/measurement/plausible.cpp.
  constexpr double kSlack = 1.02;
  constexpr double kCached = 256e6;  // bytes; more than the last cache of any GPU (B200: 126 MB)
  const double flops = flops_of(record.point), bytes = bytes_of(record.point);
  if (!record.skipped.empty() || (flops == 0 && bytes < kCached)) return false;
  const double least = (flops > 0 ? flops : bytes) / peak_rate(record.point, gpu);
  return record.measured.timing.seconds * kSlack < least;
}

/// Throws UserError at the first such point of each file, where the GPU has a shipped profile.
void check_peaks(const Files& files, const std::string& device, const GpuProfile& gpu) {
  if (!is_named(device, gpu.name)) return;
  Problems problems;
  for (const MeasuredFile& file : files) {
    std::vector<Place> above;
    for (std::size_t i = 0; i < file.content.records.size(); ++i)
      if (is_above_peak(file.content.records[i], gpu))
        above.push_back(i < file.places.size() ? file.places[i] : Place{});
    if (above.empty()) continue;
    const std::string more =
        above.size() == 1 ? "" : fmt::format(", and so are {} more", above.size() - 1);
    problems.add(above.front(), "",
                 fmt::format("this is faster than the peak of {}{}", gpu.name, more),
                 "is the time's unit right, and the GPU?");
  }
  problems.throw_if_any();
}

/// Throws UserError where a profile would be a copy of its base.
void check_anything_fitted(const Calibration& made) {
  for (const FamilyReport& family : made.families)
    if (family.fitted) return;
  throw UserError(fmt::format(
      "the measured points show no constant of a GPU's profile, which would be a copy of {}{}",
      made.base,
      made.collectives > 0     ? ": collectives make a link, with --link FILE"
      : made.between_nodes > 0 ? ": collectives of several nodes make a fabric, with --fabric FILE"
                               : ""));
}

int count_of_collectives(const Records& records, bool between_nodes) {
  int count = 0;
  for_each_point<CollectivePoint>(records, [&](const CollectivePoint& point, const auto&) {
    count += point.is_between_nodes() == between_nodes ? 1 : 0;
  });
  return count;
}

void add_families(const std::vector<FamilyReport>& families, Calibration& made) {
  made.families.insert(made.families.end(), families.begin(), families.end());
}

void make_gpu(const Files& files, const Records& records, const CalibrationRequest& request,
              const std::vector<FewPoints>& few, const Library& library, Calibration& made) {
  check_peaks(files, made.device, load_gpu(made.base, library));
  const GpuDraft gpu = gpu_draft(files, records, request, made.base, few, library);
  made.gpu_text = profile_yaml(gpu.profile, title_of(made.device, made.base), gpu.sources);
  check_readable(gpu.profile, parse_gpu(made.gpu_text, request.gpu + ".yaml"));
  add_families(gpu.families, made);
}

void make_link(const Files& files, const Records& records, const CalibrationRequest& request,
               const Library& library, Calibration& made) {
  Cluster node = node_of(made.base, library);
  if (!request.base_link.empty()) node.intra_node = load_link(request.base_link, library);
  made.base_link = node.intra_node.name;
  if (made.base_link.empty())
    throw UserError(
        fmt::format("--link: nothing is known of links between GPUs like {}: name one for what was "
                    "not measured with "
                    "--base-link ({})",
                    made.base, one_of(names_in("calib/links", library))));
  const LinkDraft link = link_draft(files, records, request.link, node);
  made.link_text = profile_yaml(link.profile, title_of(made.device, made.base_link), link.sources);
  check_readable(link.profile, parse_link(*made.link_text, request.link + ".yaml"));
  add_families(link.families, made);
}

/// The cluster that was measured; throws UserError where it cannot be that.
Cluster measured_cluster(const Records& records, const CalibrationRequest& request,
                         const Library& library) {
  if (request.base_cluster.empty())
    throw UserError(
        fmt::format("--fabric: a log does not say which NICs a node has: name the cluster that it "
                    "is of with --base-cluster ({}, or a file)",
                    one_of(names_in("scenarios/clusters", library))));
  Cluster cluster = load_cluster(request.base_cluster, library);
  if (!cluster.inter_node)
    throw UserError(fmt::format("--base-cluster {}: it has no inter_node", request.base_cluster));
  for_each_point<CollectivePoint>(records, [&](const CollectivePoint& point, const auto&) {
    if (point.is_between_nodes() && point.gpus / point.nodes > cluster.gpus_per_node)
      throw UserError(fmt::format("--base-cluster {}: {} GPUs a node were measured, it has {}",
                                  request.base_cluster, point.gpus / point.nodes,
                                  cluster.gpus_per_node));
  });
  return cluster;
}

void make_fabric(const Files& files, const Records& records, const CalibrationRequest& request,
                 const Library& library, Calibration& made) {
  const Cluster cluster = measured_cluster(records, request, library);
  if (count_of_collectives(records, true) == 0)
    throw UserError(
        "no fabric: the files have no collectives of 4 KiB or more on several nodes; leave "
        "--fabric out");
  const FabricFit fit = fit_fabric(records, cluster);
  if (made.base.empty()) made.base = request.base_cluster;
  made.fabric_text =
      fabric_text(fit, request.base_cluster, origin_of(files, PointKind::collective));
  check_cluster(*made.fabric_text, cluster.gpus_per_node, request.fabric + ".yaml");
  add_families(fit.families, made);
}

}  // namespace

Calibration calibrate(const Files& files, const CalibrationRequest& request,
                      const Library& library) {
  std::vector<FewPoints> few;
  const Records records = fittable_records(files, few);
  check_rates_show(files, few);
  const DeviceFacts device = device_of(files);
  Calibration made{.device = device.name, .points = static_cast<int>(records.size())};
  const bool of_gpu = !request.gpu.empty();
  if (of_gpu || !request.link.empty()) made.base = base_for(request, device, library);
  if (of_gpu) make_gpu(files, records, request, few, library, made);
  check_units(files, made);
  if (request.link.empty()) {
    made.collectives = count_of_collectives(records, false);
  } else {
    make_link(files, records, request, library, made);
  }
  if (request.fabric.empty()) {
    made.between_nodes = count_of_collectives(records, true);
  } else {
    make_fabric(files, records, request, library, made);
  }
  if (request.link.empty() && request.fabric.empty()) check_anything_fitted(made);
  check_units(files, made);
  return made;
}

}  // namespace stepsim
