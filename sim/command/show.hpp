// stepsim show: the values between the scenario and the answer, as text.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"

namespace stepsim {

class Network;
struct Scenario;

/// What `show collective` is asked.
struct CollectiveQuestion {
  std::string op = "all_reduce";
  std::string bytes = "64 MiB";  ///< nccl-tests size
  std::string group = "data";
  std::string format = "table";  ///< table, json; also of `show model` and `show timeline`
};

struct ShowOptions {
  std::string what;  ///< scenario, model, cluster, ops, plan, memory, timeline, collective
  ScenarioArgument scenario;
  CollectiveQuestion collective;
  bool dot = false;  ///< cluster: a picture for Graphviz
};

/// Prints one of the values between the scenario and the answer.
ExitCode show(const ShowOptions& options, std::ostream& out);

/// A table of the links, those with the same name but for numbers on one line; and how much passes
/// between the two halves of the cluster.
void show_links(const std::string& title, const Network& network, std::ostream& out);

/// The links as a graph for Graphviz. A cluster of many nodes is drawn as a few of them, one seen
/// from inside.
void draw_links(const std::string& title, const Network& network, std::ostream& out);

/// Prints who would do a collective, what each candidate costs, and why one won. Throws UserError
/// when the op or the group is unknown, or the size is not one.
void show_collective(const Scenario& scenario, const CollectiveQuestion& question,
                     std::ostream& out);

/// Prints layers, parameters, FLOPs, bytes and what was assumed.
///
/// `argument.path`: a name of `stepsim list models`, a model file, a config.json of Hugging Face or
/// the folder that has one, or a scenario, whose model and sequence length are shown. `format`:
/// table or json. Throws UserError for a model that cannot be read.
void show_model(const ScenarioArgument& argument, const std::string& format, std::ostream& out);

}  // namespace stepsim
