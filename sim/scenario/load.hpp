// From files to values: load a scenario, a model, a GPU or a link by path or name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/core/objection.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schedule_needs.hpp"

namespace stepsim {

/// `--set path=value`, value parsed as YAML: "parallelism.data.bucket=25 MiB".
struct Override {
  std::string path;
  std::string value;
};

/// Splits `path=value`. Throws UserError when there is no '='.
Override parse_override(const std::string& text);

class ParsedFiles;
class PartsRead;

/// Where named files are looked up. Whoever loads several scenarios keeps one library for all.
struct Library {
  std::vector<std::string> roots;  ///< the folders that hold models/, calib/ and scenarios/
  /// The files that were read with this library or a copy of it, parsed once; one thread at a time.
  /// nullptr: each file is parsed whenever it is read.
  std::shared_ptr<ParsedFiles> parsed{};
  /// What was read of them; nullptr: each part is read whenever it is named.
  std::shared_ptr<PartsRead> parts{};
};

/// The library for a scenario at that path: $STEPSIM_LIBRARY when set, the scenario's folder and
/// its parents that hold a models/ folder, and what comes with the program: share/stepsim of an
/// installed one, else the source tree that it was built from. Throws IoError, with the folders that
/// were looked at, where none of them has anything that a scenario may name.
Library library_for(const std::string& scenario_path);

/// Folders of $STEPSIM_LIBRARY that have nothing that a scenario may name, in words. Throws UserError
/// where one of them is no folder.
std::vector<std::string> library_warnings();

/// A convention of FLOPs as the checks know it.
struct KnownConvention {
  std::string name;
  bool any_model = false;      ///< counts models that are no transformer, too
  bool by_parameters = false;  ///< counts all parameters for each token
};

/// How an optimizer updates matrices of hidden layers: as anything else; by their momentum made
/// orthogonal (Muon); by Adam in eigenbases (SOAP); between inverse roots (Shampoo).
enum class MatrixUpdate { none, orthogonal, eigenbases, roots };

/// An optimizer as the checks know it.
struct KnownOptimizer {
  std::string name;
  bool whole_tensors = false;  ///< does not work on parts of a tensor
  bool has_foreach = true;     ///< has kernels for single operations
  bool has_composed = false;   ///< has them for elementary operations
  bool has_moments = true;     ///< keeps moments whose type can be chosen
  MatrixUpdate matrices = MatrixUpdate::none;
};

/// A style of kernels as the checks know it.
struct KnownStyle {
  std::string name;
  bool has_fusion_switches = false;  ///< bias_dropout_fusion and rope_fusion are about it
};

/// A way of joining nodes, or the GPUs of a node, as the checks know it.
struct KnownTopology {
  std::string name;
  std::vector<std::string> keys;  ///< keys that it reads and not all topologies do
  std::vector<Objection> (*objections)(const Cluster& cluster) = nullptr;  ///< nullptr: none
};

/// Names that the rooms above own. A list that is empty is not checked.
struct KnownNames {
  std::vector<KnownSchedule> schedules;
  std::vector<KnownTopology> topologies;
  std::vector<std::string> collectives;  ///< `auto` need not be among them
  std::vector<KnownConvention> conventions;
  std::vector<KnownOptimizer> optimizers;
  std::vector<KnownStyle> styles;
  std::vector<KnownTopology> node_topologies;
  /// What does not fit about the names of links; nullptr: not checked.
  std::vector<Objection> (*link_names)(const Scenario& scenario) = nullptr;
};

/// Reads and checks a scenario. Throws UserError with every mistake of every file it names, each
/// with its position, or IoError when the file itself cannot be read.
Scenario load_scenario(const std::string& path, const std::vector<Override>& overrides = {},
                       const KnownNames& known = {});

/// Reads and checks a scenario from text; `file` is the name that errors cite. Throws as
/// load_scenario does.
Scenario parse_scenario(const std::string& text, const std::string& file, const Library& library,
                        const std::vector<Override>& overrides = {}, const KnownNames& known = {});

Model load_model(const std::string& name, const Library& library);
GpuProfile load_gpu(const std::string& name, const Library& library);
LinkProfile load_link(const std::string& name, const Library& library);
Cluster load_cluster(const std::string& name, const Library& library);

/// A profile from the text of a file of that name; it must be whole. Throws UserError with every
/// mistake.
GpuProfile parse_gpu(const std::string& text, const std::string& file);
LinkProfile parse_link(const std::string& text, const std::string& file);

/// The names in models/, calib/gpus/, calib/links/ or scenarios/clusters/ (`folder`), sorted.
std::vector<std::string> names_in(const std::string& folder, const Library& library);

/// The scenario as YAML with every default written out; it loads again to an equal scenario. The
/// model and the cluster are written inline; the GPU and a measured link stay names, for their
/// constants belong to calib/.
std::string to_yaml(const Scenario& scenario);

}  // namespace stepsim
