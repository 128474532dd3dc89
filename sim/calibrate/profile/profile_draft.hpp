// A profile in the making: its constants, where each comes from, and the report about both.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/calibrate/fit/sample.hpp"
#include "sim/calibrate/profile/calibration.hpp"
#include "sim/core/error.hpp"
#include "sim/scenario/read/map_writer.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// What profiles say about their measurements: "my.json (NVIDIA H100 80GB HBM3, 2026-01-31".
struct ProfileOrigin {
  std::string files, device, date;
  std::string text(int points) const;
};

template <class Profile>
struct ProfileDraft {
  Profile profile;
  ProfileSources sources;
  std::vector<FamilyReport> families;
  ProfileOrigin origin;
  std::string base;  ///< name of the profile that it began as

  /// Everything that no family claims is as in `base`.
  void derive_from(const std::string& profile_name) {
    base = profile_name;
    sources.texts.emplace_back("base", "derived: as " + base + ", not measured");
    sources.of[""] = "base";
  }
  /// A source of its own for the constants at `path`.
  void state(const std::string& path, const std::string& id, const std::string& text);
  /// The constants at the report's path are fitted.
  void fitted(FamilyReport report);
  /// The constants at `path` are as in the base, for the reason in `remark`.
  void not_fitted(const std::string& family, const std::string& path, const std::string& remark) {
    families.push_back(
        {.family = family, .path = path, .held_out = false, .fitted = false, .remark = remark});
  }
};

std::string fit_source(const ProfileOrigin& origin, const FamilyReport& report);
/// "gemm-bf16" from "gemm.bf16"
std::string id_of(const std::string& path);

/// A profile that stepsim would read as another one must not be written. Throws InternalError.
template <class Profile>
void check_readable(const Profile& profile, const Profile& again) {
  Profile same = again;
  same.hash = profile.hash;  // hashes are of texts, and `again` was read from another text
  if (!(same == profile))
    throw InternalError(fmt::format("the profile '{}' is read as another one", profile.name));
}

template <class Profile>
void ProfileDraft<Profile>::state(const std::string& path, const std::string& id,
                                  const std::string& text) {
  bool known = false;
  for (const auto& [other, its_text] : sources.texts) known = known || other == id;
  if (!known) sources.texts.emplace_back(id, text);
  sources.of[path] = id;
}

template <class Profile>
void ProfileDraft<Profile>::fitted(FamilyReport report) {
  state(report.path, id_of(report.path), fit_source(origin, report));
  families.push_back(std::move(report));
}

/// The class of a measured kernel.
MemoryRate rate_of(MemoryOp op);

/// REQUIRES: at least one size.
Extent<Bytes> extent_of(const std::vector<Bytes>& sizes);
/// "4.00 KiB to 512 MiB"
std::string size_range(const std::vector<Bytes>& sizes);

using GpuDraft = ProfileDraft<GpuProfile>;
using LinkDraft = ProfileDraft<LinkProfile>;
using Records = std::vector<PointRecord>;

/// Each takes its kinds of records and leaves the rest; REQUIRES: none is skipped.
void fit_gemms(const Records& records, std::uint64_t seed, GpuDraft& draft);
void fit_memory_kernels(const Records& records, std::uint64_t seed, GpuDraft& draft);
/// REQUIRES: forward passes of each kernel and head size (fittable_points.hpp).
void fit_attention_kernels(const Records& records, std::uint64_t seed, GpuDraft& draft);
/// After GEMMs: their constants are fitted over those.
void fit_convolutions(const Records& records, std::uint64_t seed, GpuDraft& draft);
/// REQUIRES: times that grow (fittable_points.hpp).
void fit_host_copies(const Records& records, GpuDraft& draft);
void fit_launches(const Records& records, GpuDraft& draft);
/// `node` is the kind of machine that they ran on, by which NCCL chose.
void fit_collectives(const Records& records, const Cluster& node, LinkDraft& draft);

/// Whether a point is among those that a fit is made of: attention in 16 bits, collectives of 4 KiB
/// and more that links have lines of, convolutions of shapes that models have.
bool is_fitted(const AttentionPoint& point);
bool is_fitted(const CollectivePoint& point);
bool is_fitted(const ConvolutionPoint& point);

/// The points of one kind of record.
template <class Point, class F>
void for_each_point(const Records& records, F&& use) {
  for (const PointRecord& record : records)
    if (const auto* point = std::get_if<Point>(&record.point)) use(*point, record.measured);
}

}  // namespace stepsim
