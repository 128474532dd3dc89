// What the options of several commands share.
#include "sim/cli/options.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/kind_of_file.hpp"
#include "sim/process/launcher.hpp"
#include "sim/recording/files/looks_like_recording.hpp"

namespace stepsim {

namespace {

bool wants_colour() {
  const char* term = std::getenv("TERM");
  if (was_launched_for_mpi()) return false;  // mpirun's pipes look like terminals
  return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr && term != nullptr &&
         std::string(term) != "dumb";
}

}  // namespace

void add_format(CLI::App& app, std::string& format, const std::vector<std::string>& words) {
  app.add_option("--format", format, one_of(words))->check(one_of_these(words));
}

CLI::Option* add_output(CLI::App& app, const std::string& names, std::string& path,
                        const std::string& text) {
  return app.add_option(names, path, text)->type_name("OUTFILE");
}

void add_html(CLI::App& app, std::string& path) {
  add_output(app, "--html", path, "write the answer as a page, for any browser")
      ->check(not_empty())
      ->check([](const std::string& file) {
        return file == "-" ? "a page goes into a file, which has a name" : "";
      });
}

void add_force(CLI::App& app, bool& force) {
  app.add_flag("--force", force, "also replace files that it did not write, or somebody changed");
}

void add_jobs(CLI::App& app, int& jobs, const std::string& text) {
  app.add_option("--jobs", jobs, text)->check(CLI::Range(1, 4096));
}

Screen screen_here() { return {.colour = wants_colour(), .progress = isatty(STDERR_FILENO) != 0}; }

CLI::Validator one_of_these(const std::vector<std::string>& words) {
  const auto refuse = [words](const std::string& text) {
    const bool known = std::ranges::find(words, text) != words.end();
    return known ? "" : fmt::format("unknown '{}', {}", text, did_you_mean(text, words));
  };
  return {refuse, fmt::format("{{{}}}", fmt::join(words, ","))};
}

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? "is empty" : ""; }, ""};
}

CLI::Validator positive() {
  const auto refuse = [](const std::string& text) -> std::string {
    const bool is_whole = text.find_first_not_of("0123456789") == std::string::npos;
    const bool is_above_0 = text.find_first_not_of('0') != std::string::npos;
    return is_whole && is_above_0 ? "" : quoted(text) + " is not a whole number from 1 on";
  };
  return {refuse, ""};
}

void add_scenario(CLI::App& app, ScenarioArgument& argument) {
  app.add_option("scenario", argument.path, "scenario file (YAML)")->required();
  app.add_option("--set", argument.overrides,
                 "path=value ..., instead of what the file says (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
}

std::string way_out_for_its_scenario(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    const CLI::Option* file = command->get_option_no_throw("scenario");
    if (file == nullptr || file->count() == 0) continue;
    const CLI::Option* what = command->get_option_no_throw("what");
    // `show model` reads a model's config itself, and has said why it cannot.
    if (what != nullptr && what->as<std::string>() == "model") continue;
    const auto path = file->as<std::string>();
    // `explain` reads recordings itself, and has said what is wrong.
    if (command->get_name() == "explain" && looks_like_recording(path)) continue;
    try {
      const auto source = read_source(path, kLargestImport);
      // What no other command reads has no way out, and looking for it takes long.
      if (source->text.size() > kLargestImport) return "";
      return way_out_for_scenario(path, source->text);
    } catch (const std::exception&) {
      return "";  // what is wrong with the file has been said
    }
  }
  return "";
}

}  // namespace stepsim
