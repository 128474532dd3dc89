// Options of srun, mpirun, torchrun and their kind, and lines of a batch script, as GPUs.
//
// Sources: srun(1), sbatch(1); mpirun(1) of Open MPI; mpiexec of MPICH (Hydra); pdsh(1); torchrun
// (pytorch/pytorch torch/distributed/run.py); deepspeed/launcher/runner.py; accelerate's
// src/accelerate/commands/launch.py.
#include "sim/import/script/launchers.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "sim/import/machine.hpp"
#include "sim/import/script/programs.hpp"

namespace stepsim {
namespace {

/// The number that the text begins with, if it is a count of GPUs; else 0.
int count_in(std::string_view text) {
  int number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc{} && number > 0 && number <= kMostGpus ? number : 0;
}

/// The value of the first of these options that is there: "-N 4", "-N4", "--nodes=4", "--nodes 4".
std::string value_of(const Words& words, std::initializer_list<std::string_view> names) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    for (const std::string_view name : names) {
      if (word == name) return i + 1 < words.size() ? words[i + 1] : "";
      const bool is_long = name.starts_with("--");
      if (is_long && word.starts_with(std::string(name) + "=")) return word.substr(name.size() + 1);
      const bool is_joined = !is_long && name.size() == 2 && word.starts_with(name);
      if (is_joined && count_in(word.substr(2)) > 0) return word.substr(2);
    }
  }
  return "";
}

int count_of(const Words& words, std::initializer_list<std::string_view> names) {
  return count_in(value_of(words, names));
}

/// "gpu:8", "gpu:a100:8", "8"
int gpus_in(const std::string& resource) {
  if (resource.find(':') == std::string::npos) return count_in(resource);
  return resource.starts_with("gpu") ? count_in(resource.substr(resource.rfind(':') + 1)) : 0;
}

/// "node[1-4,7]", "a,b,c"
int hosts_in(const std::string& list) {
  int hosts = 0, first = 0;
  bool is_inside = false;
  std::string part;
  for (const char c : list + ",") {
    if (c == '[' || c == ']') {
      is_inside = c == '[';
      if (is_inside) part.clear();
    }
    if (c == '-' && is_inside) first = std::max(count_in(part), 0);
    if (c == ',' || c == '-' || c == ']') {
      const bool is_range_end = c != '-' && first > 0 && is_inside;
      if (is_range_end) hosts += count_in(part) - first;
      if (c != '-' && !part.empty()) ++hosts, first = 0;
      part.clear();
    } else if (c != '[') {
      part += c;
    }
  }
  return hosts;
}

struct Processes {
  int nodes = 0, per_node = 0, all = 0;
};

/// What one of the programs says.
struct Said {
  Processes processes;
  int gpus_per_node = 0;
};

Said slurm(const Words& w) {
  Said said{{count_of(w, {"-N", "--nodes"}), count_of(w, {"--ntasks-per-node", "--tasks-per-node"}),
             count_of(w, {"-n", "--ntasks"})},
            gpus_in(value_of(w, {"--gpus-per-node", "--gres"}))};
  const int nodes_of_list = hosts_in(value_of(w, {"-w", "--nodelist"}));
  if (said.processes.nodes == 0) said.processes.nodes = nodes_of_list;
  return said;
}

Said mpi(const Words& w) {
  Said said{{0, count_of(w, {"-npernode", "--npernode", "-N", "-ppn", "--ppn"}),
             count_of(w, {"-np", "--np", "-n", "--n", "-c"})},
            0};
  // ppr:8:node
  const std::string map = value_of(w, {"--map-by", "-map-by"});
  if (map.starts_with("ppr:") && map.find(":node") != std::string::npos)
    said.processes.per_node = count_in(map.substr(4));
  const std::string hosts = value_of(w, {"-H", "-host", "--host", "-hosts"});
  if (!hosts.empty()) said.processes.nodes = hosts_in(hosts);
  return said;
}

Said remote_shell(const Words& w) { return {{hosts_in(value_of(w, {"-w"})), 0, 0}, 0}; }

Said said_by(const Words& words) {
  const std::string name = program_name(words.front());
  if (name == "srun" || name == "sbatch" || name == "salloc") return slurm(words);
  if (name.starts_with("mpi") || name == "prterun" || name == "orterun") return mpi(words);
  if (name == "pdsh" || name == "clush") return remote_shell(words);
  return {};
}

/// What a launcher that starts one process a GPU says, but for torchrun's, which are options beside
/// Megatron-LM's.
LaunchedGpus launcher_gpus(const Words& words) {
  const int machines =
      count_of(words, {"--nnodes", "--num_nodes", "--num_machines", "--num-machines"});
  const int all = count_of(words, {"--num_processes", "--num-processes"});
  return {machines,
          count_of(words, {"--nproc_per_node", "--nproc-per-node", "--num_gpus", "--num-gpus"}),
          all, false};
}

void keep(int& kept, int value) {
  if (value > 0) kept = value;
}

/// Launches on other nodes have another rank, or another host.
int nodes_by_rank(const std::vector<StartedProgram>& launches) {
  std::set<std::string> ranks, hosts;
  for (const StartedProgram& launch : launches) {
    ranks.insert(value_of(launch.words, {"--node_rank", "--node-rank", "--machine_rank"}));
    for (const Words& words : launch.through) {
      if (program_name(words.front()) == "ssh" && words.size() > 1) hosts.insert(words.back());
    }
  }
  const std::size_t nodes = std::max(ranks.size(), hosts.size());
  return nodes > 1 ? static_cast<int>(nodes) : 0;
}

}  // namespace

LaunchedGpus launched_gpus(const std::vector<StartedProgram>& launches,
                           const LaunchedGpus& requested) {
  const StartedProgram& launch = launches.front();
  LaunchedGpus found = requested;
  Processes outer;
  for (const Words& words : launch.through) {
    const Said said = said_by(words);
    keep(outer.nodes, said.processes.nodes);
    keep(outer.per_node, said.processes.per_node);
    keep(outer.all, said.processes.all);
    keep(found.gpus_per_node, said.gpus_per_node);
  }
  keep(found.nodes, nodes_by_rank(launches));
  keep(found.nodes, outer.nodes);
  if (starts_ranks(launch.words)) {
    const LaunchedGpus inner = launcher_gpus(launch.words);
    // Each process of an outer launcher is a node here.
    if (outer.nodes == 0 && found.nodes == 0) keep(found.nodes, outer.all);
    keep(found.nodes, inner.nodes);
    keep(found.gpus_per_node, inner.gpus_per_node);
    keep(found.gpus, inner.gpus);
    found.is_one_node = found.nodes == 0 && launch.through.empty();
    return found;
  }
  keep(found.gpus_per_node, outer.per_node);
  keep(found.gpus, outer.all);
  if (outer.all > 0 && outer.nodes > 0 && outer.per_node == 0 && outer.all % outer.nodes == 0)
    found.gpus_per_node = outer.all / outer.nodes;
  if (found.gpus > 0 && found.gpus_per_node > 0 && outer.nodes == 0)
    found.nodes = std::max(found.gpus / found.gpus_per_node, 1);
  return found;
}

/// The options of lines like "#SBATCH --nodes=16", as words behind the name.
Words scheduler_words(const Source& script) {
  Words words;
  std::istringstream lines(script.text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#SBATCH") && !line.starts_with("#PBS")) continue;
    std::istringstream text(line.substr(0, line.find(" #")));
    for (std::string word; text >> word;) words.push_back(word);
  }
  return words;
}

LaunchedGpus requested_gpus(const Source& script) {
  const Words words = scheduler_words(script);
  const Said said = slurm(words);
  LaunchedGpus found{said.processes.nodes, said.gpus_per_node};
  // One task a node starts a launcher; several are one a GPU.
  if (found.gpus_per_node == 0 && said.processes.per_node > 1)
    found.gpus_per_node = said.processes.per_node;
  const std::string list = value_of(words, {"-l"});
  if (list.starts_with("select=")) keep(found.nodes, count_in(list.substr(7)));
  const std::size_t gpus = list.find("ngpus=");
  if (gpus != std::string::npos) keep(found.gpus_per_node, count_in(list.substr(gpus + 6)));
  return found;
}

Variables slurm_variables(const Source& script, const LaunchedGpus& known) {
  const Words words = scheduler_words(script);
  if (words.empty() || words.front() != "#SBATCH") return {};
  Variables found{{"SLURM_JOB_ID", "1"},     {"SLURM_JOBID", "1"},  {"SLURM_JOB_NAME", "job"},
                  {"SLURM_SUBMIT_DIR", "."}, {"SLURM_PROCID", "0"}, {"SLURM_NODEID", "0"},
                  {"SLURM_LOCALID", "0"}};
  const auto set = [&](std::initializer_list<const char*> names, int value) {
    for (const char* name : names) {
      if (value > 0) found[name] = std::to_string(value);
    }
  };
  const Said said = slurm(words);
  const int per_node = std::max(said.processes.per_node, 1);
  set({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, known.nodes);
  set({"SLURM_NTASKS_PER_NODE"}, said.processes.per_node);
  found["SLURM_TASKS_PER_NODE"] =
      known.nodes > 1 ? fmt::format("{}(x{})", per_node, known.nodes) : std::to_string(per_node);
  set({"SLURM_NTASKS", "SLURM_NPROCS"},
      said.processes.all > 0 ? said.processes.all : per_node * known.nodes);
  set({"SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"}, known.gpus_per_node);
  set({"SLURM_GPUS"}, known.gpus_per_node * known.nodes);
  set({"SLURM_CPUS_PER_TASK"}, count_of(words, {"-c", "--cpus-per-task"}));
  const std::string hosts = known.nodes > 1 ? fmt::format("node[0-{}]", known.nodes - 1) : "node0";
  if (known.nodes > 0) found["SLURM_JOB_NODELIST"] = found["SLURM_NODELIST"] = hosts;
  return found;
}

}  // namespace stepsim
