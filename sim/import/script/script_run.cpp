// Lets bash evaluate a script under watch, and notes what it starts.
#include "sim/import/script/script_run.hpp"

#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/core/error.hpp"
#include "sim/import/script/programs.hpp"
#include "sim/process/forked.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/process/watched/watched_run.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using How = WatchedEnd::How;

/// bash calls it for a command that is not on PATH; so it is noted instead of an error.
constexpr const char* kNotOnPath =
    "BASH_FUNC_command_not_found_handle%%=() {  \"/stepsim/other/$1\" \"${@:2}\"; }";
/// How far above the script its repository may begin.
constexpr int kFoldersAbove = 6;

bool is_argument(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<std::string> environment(const Variables& variables) {
  std::vector<std::string> all{std::string("PATH=") + kProgramFolder,
                               "HOME=/home/user",
                               "USER=user",
                               "LOGNAME=user",
                               "SHELL=/bin/bash",
                               "LC_ALL=C",
                               "TERM=dumb",
                               "HOSTNAME=node0",
                               "RANK=0",
                               "NODE_RANK=0",
                               "LOCAL_RANK=0",
                               kNotOnPath};
  for (const auto& [name, value] : variables) {
    if (!is_argument(name)) all.push_back(name + "=" + value);
  }
  return all;
}

/// Up to the last one that is stated; those between are empty.
Words arguments(const Variables& variables) {
  Words all;
  for (const auto& [name, value] : variables) {
    if (!is_argument(name) || name.size() > 2 || name == "0") continue;
    const auto index = static_cast<std::size_t>(std::stoi(name));
    if (all.size() < index) all.resize(index);
    all[index - 1] = value;
  }
  return all;
}

/// Where bash finds the script, and its folder: this one where it is no file, but came through a
/// pipe. /dev/stdin leads to another file for bash than for this process.
std::pair<fs::path, fs::path> place_of(const Source& script) {
  std::error_code none;
  const fs::path file = fs::absolute(script.name);
  if (!fs::is_regular_file(file, none) || file.native().starts_with("/dev/"))
    return {kOwnScript, fs::current_path()};
  return {file, file.parent_path()};
}

WatchedProgram program(const Source& script, const Variables& variables) {
  const auto [file, its_folder] = place_of(script);
  WatchedProgram watched{.start = {"/bin/bash",
                                   {"bash", "--noprofile", "--norc", script.name},
                                   environment(variables)},
                         .folder = its_folder,
                         .others = {fs::current_path()},
                         .programs = program_names(),
                         .script = file == kOwnScript ? script.text : "",
                         .limits = {}};
  watched.start.words.back() = file;
  for (const std::string& word : arguments(variables)) watched.start.words.push_back(word);
  fs::path folder = its_folder;
  for (int i = 0; i < kFoldersAbove && folder.has_relative_path(); ++i) {
    watched.others.push_back(folder);
    folder = folder.parent_path();
  }
  return watched;
}

Json json_of(const StartedProgram& launch) {
  return {{"words", launch.words}, {"through", launch.through}, {"known", launch.is_known}};
}

/// The word of the file that a shell is started with; none where it reads a command, or its standard
/// input.
std::string* script_of(ProgramStart& start) {
  if (start.path != "/bin/bash") return nullptr;
  for (std::size_t i = 1; i < start.words.size(); ++i) {
    std::string& word = start.words[i];
    if (!word.starts_with('-')) return &word;
    if (!word.starts_with("--") && word.find('c') != std::string::npos) return nullptr;
    if (word == "-o" || word == "-O") ++i;
  }
  return nullptr;
}

/// A script that is started at the top of its repository names others from there, and those find
/// more beside themselves (`dirname $0`): the place of one that is not in the process's folder.
std::string found_above(const std::string& script, const WatchedProgram& program, int process) {
  std::error_code none;
  const fs::path here = fs::read_symlink(fmt::format("/proc/{}/cwd", process), none);
  if (fs::path(script).is_absolute() || fs::exists(here / script, none)) return script;
  for (const std::string& folder : program.others) {
    if (fs::is_regular_file(folder / fs::path(script), none)) return folder / fs::path(script);
  }
  return script;
}

/// Runs in a process that has no other children.
std::string watch(const WatchedProgram& program, const fs::path& scratch,
                  const ScriptMachine& machine) {
  std::map<int, std::vector<Words>> through;
  Json launches = Json::array(), scripts = Json::array();
  const auto on_start = [&](const ProgramStart& asked, int process) {
    ProgramStart start =
        stand_in(asked, machine, through[process],
                 [&](const StartedProgram& launch) { launches.push_back(json_of(launch)); });
    if (std::string* script = script_of(start)) {
      *script = found_above(*script, program, process);
      scripts.push_back(*script);
    }
    return start;
  };
  const auto on_fork = [&](int process, int copy) { through[copy] = through[process]; };
  const WatchedEnd end = watched_run(program, scratch, on_start, on_fork);
  const Json all{{"how", static_cast<int>(end.how)},
                 {"code", end.code},
                 {"errors", end.errors},
                 {"read", end.read},
                 {"missing", end.missing},
                 {"absent", end.absent},
                 {"scripts", scripts},
                 {"launches", launches}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void refuse_end(How how, const Source& script, const WatchLimits& limits) {
  const char* way = "give the command line itself: stepsim import megatron -- OPTIONS";
  if (how == How::out_of_time)
    throw ScriptNotEnded(fmt::format(
        "{}: bash did not come to the end of the script within {:.0f} s, and was ended; {}",
        script.name, limits.wall.seconds(), way));
  if (how == How::too_many_processes)
    throw UserError(
        fmt::format("{}: the script runs more than {} processes at a time, and was "
                    "ended; {}",
                    script.name, limits.processes, way));
  if (how == How::not_started)
    throw SimulationError(
        fmt::format("{}: this system lets no process watch another (ptrace, seccomp), so that the "
                    "script is not run; {}",
                    script.name, way));
}

}  // namespace

ScriptRun run_script(const Source& script, const Variables& variables, const ScriptMachine& machine,
                     const fs::path& scratch, Seconds limit, RunIn where) {
  WatchedProgram watched = program(script, variables);
  watched.limits.wall = limit;
  const auto said = where == RunIn::here
                        ? std::vector<std::optional<std::string>>{watch(watched, scratch, machine)}
                        : run_forked(1, 1, [&](int) { return watch(watched, scratch, machine); });
  if (!said.front()) throw Interrupted();
  const Json all = Json::parse(*said.front());
  refuse_end(static_cast<How>(all["how"].get<int>()), script, watched.limits);
  ScriptRun run{
      {}, all["read"], all["missing"], all["absent"], all["scripts"], all["errors"], all["code"]};
  for (const Json& launch : all["launches"])
    run.launches.push_back({launch["words"], launch["through"], launch["known"]});
  return run;
}

}  // namespace stepsim
