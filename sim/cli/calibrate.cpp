// The options of `stepsim calibrate`.
#include "sim/command/calibrate.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {
namespace {

void add_fit(CLI::App& calibrate, Action& chosen) {
  const auto kept = std::make_shared<CalibrateFitOptions>();
  CLI::App* fit = calibrate.add_subcommand("fit", "fit profiles to files of measurements");
  fit->footer(
      "Exit codes: 0 written, 2 the measurements or options are wrong, 4 a file cannot be read\n"
      "or written. Nothing is written unless all is well.\n\n"
      "Example: stepsim calibrate fit my-h100.json -o calib/gpus/my-h100.yaml");
  fit->add_option("measurements", kept->measurements, "files: docs/calibration.md")->required();
  add_output(*fit, "-o,--output", kept->output, "GPU profile to write, calib/gpus/NAME.yaml");
  add_output(*fit, "--link", kept->link,
             "link profile to write of the collectives, calib/links/NAME.yaml");
  add_output(*fit, "--fabric", kept->fabric,
             "cluster to write of the collectives over several nodes, NAME.yaml");
  fit->add_option("--base-cluster", kept->base_cluster,
                  "the cluster that they ran on: a name in scenarios/clusters/, or a path");
  fit->add_option("--base", kept->base, "profile for what was not measured; default: the nearest");
  fit->add_option("--base-link", kept->base_link,
                  "the same for the link; default: that of the base's clusters");
  fit->add_option("--name", kept->name,
                  "what the profile calls the GPU; default: as its driver does");
  fit->add_option("--seed", kept->seed, "of the half of the points that errors are of")
      ->check(positive());
  add_format(*fit, kept->format, {"table", "markdown", "json"});
  add_force(*fit, kept->force);
  fit->callback(
      [kept, &chosen] { chosen = [kept] { return stepsim::calibrate_fit(*kept, std::cout); }; });
}

void add_cpu(CLI::App& calibrate, Action& chosen) {
  const auto kept = std::make_shared<CalibrateCpuOptions>();
  CLI::App* cpu = calibrate.add_subcommand("cpu", "measure this machine's CPU, and fit to that");
  cpu->footer(
      "Exit codes: 0 written, 2 wrong options, a file that somebody has changed, too little\n"
      "measured or no stepsim-measure-cpu, 3 it failed, 4 a file cannot be read or written.\n"
      "All files are written, or none.\n\n"
      "Example: stepsim calibrate cpu -o calib/gpus/this-machine.yaml");
  add_output(*cpu, "-o,--output", kept->output,
             "profile of a core to write, DIR/calib/gpus/NAME.yaml; one of MPI, a cluster and "
             "a scenario of that name go to DIR/calib/links and DIR/scenarios")
      ->required();
  cpu->add_option("--budget", kept->budget, "time for measuring: 90s, 2min");
  cpu->add_option("--ranks", kept->ranks,
                  "processes that are at work; default: two, one on a machine of one core")
      ->check(CLI::Range(1, 1024));
  cpu->add_option("--working-set", kept->working_set,
                  "bytes that a training works on, like 16MiB; default: more than caches hold");
  add_format(*cpu, kept->format, {"table", "json"});
  add_force(*cpu, kept->force);
  cpu->callback([kept, &chosen] {
    chosen = [kept] { return stepsim::calibrate_cpu(*kept, std::cout, std::cerr); };
  });
}

void add_probe(CLI::App& calibrate, Action& chosen) {
  const auto kept = std::make_shared<CalibrateProbeOptions>();
  CLI::App* probe =
      calibrate.add_subcommand("probe", "write a cluster file of what this machine is made of");
  probe->footer(
      "Reads /sys, /proc and nvidia-smi. What cannot be seen is a default that says so.\n"
      "Exit codes: 0 written, 2 wrong options or a file that cannot be understood, 3 no GPU,\n"
      "4 a file cannot be written.\n\n"
      "Example: stepsim calibrate probe -o scenarios/clusters/this-machine.yaml");
  add_output(*probe, "-o,--output", kept->output, "file to write instead of standard output");
  probe->add_option("--root", kept->root,
                    "folder with a machine's sys/ and proc/, nvidia-smi-query.txt and "
                    "nvidia-smi-topo.txt, instead of this machine");
  probe->add_option("--gpu", kept->gpu, "a name in calib/gpus/; default: as recognised");
  add_force(*probe, kept->force);
  probe->callback([kept, &chosen] {
    chosen = [kept] { return stepsim::calibrate_probe(*kept, std::cout, std::cerr); };
  });
}

void add_steps(CLI::App& calibrate, Action& chosen) {
  const auto kept = std::make_shared<CalibrateStepsOptions>();
  CLI::App* steps =
      calibrate.add_subcommand("steps", "fit a machine's constants to its measured steps");
  steps->footer(
      "Exit codes: 0 fitted, 2 bad input or fewer than two usable rows, 3 interrupted,\n"
      "4 a file cannot be read.\n\n"
      "Example: stepsim calibrate steps mine.yaml");
  steps->add_option("suite", kept->suite, "file of measured steps: docs/validation.md")
      ->required()
      ->check(not_empty());
  steps->add_option("--table", kept->table, "other rows in the same columns")->check(not_empty());
  steps->add_option("--filter", kept->filter, "condition over columns and groups, as in 'gpus > 8'")
      ->check(not_empty());
  add_jobs(*steps, kept->jobs, "simulations at the same time; default: as many as cores");
  add_format(*steps, kept->format, {"table", "json"});
  steps->callback([kept, &chosen] {
    kept->screen = screen_here();
    chosen = [kept] { return stepsim::calibrate_steps(*kept, std::cout, std::cerr); };
  });
}

void add_trace(CLI::App& calibrate, Action& chosen) {
  const auto kept = std::make_shared<CalibrateTraceOptions>();
  CLI::App* trace =
      calibrate.add_subcommand("trace", "scale a scenario's profiles to a recording of its run");
  trace->footer(
      "Exit codes: 0 written, 2 wrong options, a file that cannot be understood or that somebody\n"
      "has changed, 3 the simulation could not complete, 4 a file cannot be read or written.\n\n"
      "Example: stepsim calibrate trace traces/ --scenario scenario.yaml -o mine");
  trace->add_option("recording", kept->recording, "a file of a rank, or a folder of them")
      ->required()
      ->check(not_empty());
  trace->add_option("--scenario", kept->scenario.path, "the scenario of the recorded run")
      ->required()
      ->check(not_empty());
  trace->add_option("--set", kept->scenario.overrides, "path=value, in the scenario (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  add_output(*trace, "-o,--output", kept->output,
             "folder to write calib/gpus/NAME.yaml and calib/links/NAME.yaml to")
      ->required()
      ->check(not_empty());
  trace->add_option("--name", kept->name,
                    "NAME; default: that of the scenario's GPU with -recorded");
  add_format(*trace, kept->format, {"table", "json"});
  add_force(*trace, kept->force);
  trace->callback([kept, &chosen] {
    kept->screen = screen_here();
    chosen = [kept] { return stepsim::calibrate_trace(*kept, std::cout, std::cerr); };
  });
}

}  // namespace

void add_calibrate(CLI::App& app, Action& chosen) {
  CLI::App* calibrate = app.add_subcommand("calibrate", "make profiles from measurements");
  calibrate->require_subcommand(1);
  add_fit(*calibrate, chosen);
  add_cpu(*calibrate, chosen);
  add_probe(*calibrate, chosen);
  add_steps(*calibrate, chosen);
  add_trace(*calibrate, chosen);
}

}  // namespace stepsim
