// Lists of programs, by what a launch script wants of them.
#include "sim/import/script/programs.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/core/words.hpp"

namespace stepsim {
namespace {

/// They compute and print, and start nothing but what is looked at, too.
constexpr std::string_view kHarmless =
    "[ arch awk base64 basename bc cat cp cut date diff dirname du echo egrep env expand expr "
    "false fgrep find fold gawk getopt grep head jq join ls mawk md5sum mkdir mktemp nl od paste "
    "pr printenv printf readlink realpath rev rm sed seq sha256sum shuf sort split stat tac tail "
    "tee test touch tr true truncate uname uniq wc which xargs yes";

/// They fail where the training machine's files are not here; the script does not end for it.
constexpr std::string_view kForgiven = "cp du find ls rm stat";

constexpr std::string_view kShells = "bash sh dash zsh ksh";

/// They train, or start those that do.
constexpr std::string_view kTrainers =
    "accelerate deepspeed llamafactory-cli axolotl megatron nemo nemorun swift torchrun";

/// Programs whose names are also words that others take for arguments: --backend megatron.
constexpr std::string_view kAlsoWords =
    "axolotl hostlist megatron nemo parallel ray script swift time watch";

/// A further command stands among their arguments.
constexpr std::string_view kLeading =
    "apptainer charliecloud clush docker enroot hostlist ibrun jsrun kubectl mpiexec mpirun ncu "
    "nerdctl nice nohup nsys numactl numawrap parallel pdsh podman prterun pssh ray rocprof "
    "rocprofv3 salloc sbatch script setsid singularity srun ssh stdbuf sudo taskset time timeout "
    "unshare xpu-smi aprun orterun qsub bsub mpiexec.hydra mpirun_rsh watch";

/// Their time is not waited for, and nobody is told anything.
constexpr std::string_view kIdle =
    "chmod chown clear curl git kill killall ln mv pip pip3 pkill rmdir rsync scp sleep sync tar "
    "unzip wget ps stty";

/// They say something of the machine.
constexpr std::string_view kAsked =
    "hostname nproc nvidia-smi rocm-smi scontrol whoami id getent amd-smi ip lscpu ifconfig";

bool is_python(const std::string& name) { return name.starts_with("python"); }

/// Whether a command may begin with this word.
bool begins_command(const std::string& word) {
  const std::string name = program_name(word);
  if (has_word(kAlsoWords, name)) return false;
  return has_word(kShells, name) || has_word(kTrainers, name) || is_python(name) ||
         (has_word(kLeading, name) && word.front() != '-') || name.ends_with(".sh");
}

/// python -c "import torch; print(torch.cuda.device_count())"
bool counts_gpus(const Words& words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    return word.find("device_count()") != std::string::npos;
  });
}

/// A log that a training run would write.
bool follows(const Words& words) {
  return std::any_of(words.begin() + 1, words.end(), [](const std::string& word) {
    return word == "-f" || word == "-F" || word.starts_with("--follow");
  });
}

/// A text that holds a whole command line, as ssh takes it.
bool holds_command(const std::string& text) {
  std::string word;
  bool has_spaces = false;
  for (const char c : text + ' ') {
    if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != ';') {
      word += c;
      continue;
    }
    if (has_spaces |= &c != &text.back(); !word.empty() && begins_command(word)) return true;
    word.clear();
  }
  return false;
}

std::string host_lines(int nodes) {
  std::string lines;
  for (int i = 0; i < nodes; ++i) lines += fmt::format("node{}\n", i);
  return lines;
}

/// What such a program prints.
std::string answer_of(const std::string& name, const Words& words, const ScriptMachine& machine) {
  const auto asks = [&](const char* word) {
    return std::ranges::any_of(words,
                               [&](const std::string& one) { return one.starts_with(word); });
  };
  if (name == "hostname") return asks("-i") || asks("-I") ? "10.0.0.1\n" : "node0\n";
  if (name == "ifconfig") return "eth0: flags\n        inet 10.0.0.1  netmask 255.0.0.0\n";
  if (name == "nproc") return "64\n";
  if (name == "whoami") return "user\n";
  if (name == "id") return "1000\n";
  if (name == "scontrol") return asks("hostname") ? host_lines(machine.nodes) : "";
  if (name != "nvidia-smi" && name != "rocm-smi" && name != "amd-smi") return "";
  std::string lines;
  for (int i = 0; i < machine.gpus_per_node; ++i)
    lines += asks("--query-gpu=count") ? fmt::format("{}\n", machine.gpus_per_node)
                                       : fmt::format("GPU {}: GPU\n", i);
  return lines;
}

ProgramStart started(const std::string& path, Words words) { return {path, std::move(words), {}}; }

ProgramStart nothing() { return started("/bin/true", {"true"}); }

/// realpath and readlink fail for files of the training machine, which are not here, unless the last
/// of their modes is "whatever is missing".
Words with_missing_files(const std::string& name, Words words) {
  const bool resolves = std::any_of(words.begin() + 1, words.end(), [](const std::string& word) {
    return word.starts_with('-') && word.find_first_of("fe") != std::string::npos;
  });
  if (name == "realpath" || (name == "readlink" && resolves))
    words.insert(std::find(words.begin(), words.end(), "--"), "-m");
  return words;
}

/// Where the system has the program; a script's own program of that name is none of these.
ProgramStart harmless(const std::string& name, const Words& words) {
  for (const char* folder : {"/usr/bin/", "/bin/"}) {
    if (access((folder + name).c_str(), X_OK) == 0)
      return started(folder + name, with_missing_files(name, words));
  }
  return nothing();
}

/// Leaves out what it says, too.
ProgramStart forgiven(const std::string& name, const Words& words) {
  Words shell{"bash", "-c", fmt::format("/usr/bin/{} \"$@\" 2>/dev/null || :", name), name};
  shell.insert(shell.end(), words.begin() + 1, words.end());
  return started("/bin/bash", std::move(shell));
}

bool is_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(256, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  return !begin.empty() && begin.find('\0') == std::string::npos;
}

ProgramStart shell(Words words) {
  words.front() = "bash";
  return started("/bin/bash", std::move(words));
}

}  // namespace

std::string program_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool starts_ranks(const Words& words) {
  const std::string name = program_name(words.front());
  if (name == "torchrun" || name == "accelerate" || name == "deepspeed") return true;
  return std::ranges::any_of(words, [](const std::string& word) {
    return word.starts_with("torch.distributed.") || word.starts_with("accelerate.commands");
  });
}

Words program_names() {
  Words names{"python", "python3"};
  for (const std::string_view list : {kHarmless, kShells, kTrainers, kLeading, kIdle, kAsked})
    for (const std::string_view name : words_of(list)) names.emplace_back(name);
  return names;
}

ProgramStart stand_in(const ProgramStart& asked, const ScriptMachine& machine,
                      std::vector<Words>& through,
                      const std::function<void(StartedProgram)>& note) {
  const Words& words = asked.words;
  if (words.empty()) return nothing();
  const std::string name = program_name(asked.path);
  if (has_word(kShells, name)) return shell(words);
  if (name == "tail" && follows(words)) return nothing();
  const bool is_of_system = asked.path.starts_with("/usr/bin/") || asked.path.starts_with("/bin/");
  if (has_word(kForgiven, name) && !is_of_system) return forgiven(name, words);
  if (has_word(kHarmless, name)) return harmless(name, words);
  if (has_word(kAsked, name))
    return started("/usr/bin/printf", {"printf", "%s", answer_of(name, words, machine)});
  if (has_word(kIdle, name)) return nothing();
  if (is_python(name) && counts_gpus(words))
    return started("/usr/bin/printf", {"printf", "%s", fmt::format("{}\n", machine.gpus_per_node)});
  if (has_word(kTrainers, name) || is_python(name)) {
    note({words, through, true});
    return nothing();
  }
  const auto next = std::find_if(words.begin() + 1, words.end(), begins_command);
  if (next != words.end()) {
    through.emplace_back(words.begin(), next);
    return stand_in({*next, {next, words.end()}, {}}, machine, through, note);
  }
  const auto line = std::find_if(words.begin() + 1, words.end(), holds_command);
  if (line != words.end()) {
    through.emplace_back(words.begin(), line);
    return shell({"bash", "-c", *line});
  }
  if (name == "sbatch" || name == "qsub") return shell({"bash"});  // a script that it is given
  if (name.ends_with(".sh") || is_text(asked.path)) {
    Words script{"bash", asked.path};
    script.insert(script.end(), words.begin() + 1, words.end());
    return shell(std::move(script));
  }
  Words shown = words;
  if (asked.path.starts_with("/stepsim/")) shown.front() = name;
  note({shown, through, false});
  return nothing();
}

}  // namespace stepsim
