// From measurements to profiles: what `stepsim calibrate` does between reading and writing files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/calibrate/fit/sample.hpp"
#include "sim/calibrate/measurement/read_measurements.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/map_writer.hpp"

namespace stepsim {

/// What profiles to make of them.
struct CalibrationRequest {
  std::string gpu;           ///< name of the GPU profile; empty: none is made
  std::string link;          ///< name of the link profile; empty: none is made
  std::string fabric;        ///< name of the cluster with a fabric; empty: none is made
  std::string base;          ///< shipped profile for what was not measured; empty: the nearest
  std::string base_link;     ///< shipped link for what was not measured; empty: the base's
  std::string base_cluster;  ///< name or path of the cluster whose fabric was measured
  std::string description;   ///< description of the GPU; empty: its name as the driver has it
  std::uint64_t seed = 1;    ///< seed of the halves that are kept from fits
};

/// What became of one family of constants.
struct FamilyReport {
  std::string family;  ///< "attention flash3, head 128"
  std::string path;    ///< where its constants stand in the profile: "attention[3]"
  fit::Errors errors;
  bool held_out = true;                    ///< the errors are of points that the fit did not see
  std::optional<fit::Errors> base_errors;  ///< errors of the base's constants, on all points
  bool fitted = true;                      ///< false: as the base, for the reason in `remark`
  std::string range;                       ///< "s 512 to 16384"
  std::string remark;                      ///< constants in words, or why it was not fitted
};

struct Calibration {
  std::string base, base_link;
  std::string device;    ///< name as its driver has it; may be empty
  int points = 0;        ///< measured points of all files
  std::string gpu_text;  ///< empty where none was wanted
  std::optional<std::string> link_text;
  std::optional<std::string> fabric_text;  ///< a cluster file
  int collectives = 0;    ///< points of one node that no link profile was wanted for
  int between_nodes = 0;  ///< points of several nodes that no fabric was wanted for
  std::vector<FamilyReport> families;
};

/// The profiles' texts, which stepsim reads without a complaint; shipped profiles are those of the
/// library. Throws UserError where the
/// measurements cannot give a profile: none at all, of several GPUs, of a GPU that is like none
/// without a base being named, or too few of a family.
Calibration calibrate(const std::vector<MeasuredFile>& files, const CalibrationRequest& request,
                      const Library& library);

/// The table, its fitted families as Markdown, or one JSON document.
std::string calibration_text(const Calibration& calibration);
std::string calibration_markdown(const Calibration& calibration);
std::string calibration_json(const Calibration& calibration);

}  // namespace stepsim
