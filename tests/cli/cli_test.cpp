// The program as a shell sees it: exit codes, what stands on stdout and stderr, files left behind.
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string kScenarios = std::string(stepsim::source_folder()) + "/scenarios/";
const std::string kSmall = kScenarios + "gpt-22b-8xa100.yaml";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Outcome {
  int code = 0;
  std::string out, err;
};

/// `arguments` as a shell reads them; they may send stdout elsewhere.
Outcome program(const std::string& arguments) {
  const stepsim::TemporaryFolder folder;
  const std::string out = folder.file("out"), err = folder.file("err");
  const std::string command =
      fmt::format("{{ {} {} ; }} >'{}' 2>'{}'", STEPSIM_PROGRAM, arguments, out, err);
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), text_of(out), text_of(err)};
}

Outcome run(const std::string& scenario, const std::string& options = "") {
  return program(fmt::format("run '{}' --format json {}", scenario, options));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> shipped() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(kScenarios)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Numbers within 1e-9 of each other, everything else alike.
void check_alike(const Json& a, const Json& b) {
  REQUIRE(a.type() == b.type());
  if (a.is_number()) {
    CHECK(a.get<double>() == doctest::Approx(b.get<double>()).epsilon(1e-9));
  } else if (a.is_structured()) {
    REQUIRE(a.size() == b.size());
    for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) check_alike(*i, *j);
  } else {
    CHECK(a == b);
  }
}

std::string unzipped(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  REQUIRE(file != nullptr);
  CHECK(gzdirect(file) == 0);
  std::string part(1 << 16, '\0');
  for (int n = 0; (n = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0;)
    text.append(part, 0, static_cast<std::size_t>(n));
  CHECK(gzclose(file) == Z_OK);
  return text;
}

}  // namespace

TEST_CASE("a run exits with 0 and prints one JSON object to stdout, nothing to stderr") {
  const Outcome outcome = run(kSmall);
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  const Json result = Json::parse(outcome.out);
  CHECK(result["schema"] == "stepsim.result/1");
  CHECK(result["step_time_s"] > 0);
}

TEST_CASE("a run exits with 1 when an expectation fails, and prints the result all the same") {
  const Outcome outcome = run(kSmall, "--set 'expect.step_time=\"<= 1 ms\"'");
  CHECK(outcome.code == 1);
  const Json result = Json::parse(outcome.out);
  CHECK(result["expect"][0]["text"] == "step_time <= 1 ms");
  CHECK(result["expect"][0]["holds"] == false);
}

TEST_CASE("wrong input exits with 2, says why on stderr and prints nothing to stdout") {
  const stepsim::TemporaryFolder folder;
  const std::string typo = folder.file("typo.yaml", "modell: gpt2\n");
  struct Mistake {
    std::string arguments, reason;
  };
  const Mistake mistakes[] = {
      {"run '" + typo + "'", "did you mean 'model'?"},
      {"check '" + typo + "'", "typo.yaml:1:1"},
      {"show plan '" + typo + "'", "typo.yaml:1:1"},
      {"frobnicate", "frobnicate"},
      {"", "validate, sweep, merge or report\n"},
      {"", "stepsim needs a command: new, run, explain, "},
      {"list", "`list` needs one of models, gpus, "},
      {"show", "`show` needs one of scenario, model, "},
      {"show ops", "scenario is required"},
      {"import", "import: name a file, or a kind and its file"},
      {"run", "scenario"},
      {"run '" + kSmall + "' --set", "--set"},
      {"run '" + kSmall + "' --set nonsense", "nonsense"},
      {"run '" + kSmall + "' --set training.global_bach=8", "did you mean 'global_batch'?"},
      {"run '" + kSmall + "' --set training.global_batch=many", "many"},
      {"run '" + kSmall + "' --format xml", "xml"},
      {"run '" + kSmall + "' --fold maybe", "maybe"},
      {"list colours", "colours"},
      {"show everything '" + kSmall + "'", "everything"},
  };
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.arguments);
    const Outcome outcome = program(mistake.arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, mistake.reason));
  }
}

TEST_CASE("files that cannot be read or written exit with 4") {
  const stepsim::TemporaryFolder folder;
  const Outcome missing = run(folder.file("missing.yaml"));
  CHECK(missing.code == 4);
  CHECK(contains(missing.err, "missing.yaml"));
  CHECK(missing.out.empty());

  const std::string nowhere = folder.file("no/such/folder/trace.json");
  const Outcome unwritable = run(kSmall, "--trace '" + nowhere + "'");
  CHECK(unwritable.code == 4);
  CHECK(contains(unwritable.err, nowhere));
  CHECK(unwritable.out.empty());
  CHECK(folder.files() == 0);

  fs::create_directories(folder.file("taken.json/inside"));
  const Outcome taken = run(kSmall, "--trace '" + folder.file("taken.json") + "'");
  CHECK(taken.code == 4);
  CHECK(folder.files() == 1);

  if (fs::exists("/dev/full")) CHECK(program("run '" + kSmall + "' >/dev/full").code == 4);
}

TEST_CASE("equal inputs give equal bytes") {
  for (const char* format : {"table", "json", "csv"}) {
    const std::string arguments = fmt::format("run '{}' --format {}", kSmall, format);
    const Outcome once = program(arguments);
    CHECK_FALSE(once.out.empty());
    CHECK(once.out == program(arguments).out);
  }
}

TEST_CASE("--set takes several values, before the file and behind it") {
  const std::string file = "'" + kSmall + "' --format json ";
  const Outcome apart = program("run " + file + "--set run.steps=1 --set training.micro_batch=2");
  REQUIRE(apart.code == 0);
  CHECK(program("run " + file + "--set run.steps=1 training.micro_batch=2").out == apart.out);
  CHECK(program("run --set run.steps=1 training.micro_batch=2 " + file).out == apart.out);
  CHECK(program("run --set=run.steps=1 training.micro_batch=2 " + file).out == apart.out);
}

TEST_CASE("without folding the answer is the same; only the engine does more") {
  for (const char* name : {"gpt-22b-8xa100", "mlp-buckets-8xv100", "llama3-8b-loader-8xh100",
                           "mpt-7b-zero3-64xa100"}) {
    CAPTURE(name);
    Json folded = Json::parse(run(kScenarios + name + ".yaml").out);
    Json unfolded = Json::parse(run(kScenarios + name + ".yaml", "--fold off").out);
    CHECK(unfolded["engine"]["ranks_simulated"] == unfolded["engine"]["ranks_total"]);
    CHECK(folded["engine"]["ranks_simulated"] < folded["engine"]["ranks_total"]);
    folded.erase("engine");
    unfolded.erase("engine");
    check_alike(folded, unfolded);
  }
}

TEST_CASE("what `show scenario` prints runs to the same result") {
  for (const std::string& scenario : shipped()) {
    CAPTURE(scenario);
    const stepsim::TemporaryFolder folder;
    const Outcome shown = program("show scenario '" + scenario + "'");
    CHECK(shown.code == 0);
    const Outcome again = run(folder.file("shown.yaml", shown.out));
    CHECK(again.code == 0);
    // What comes next may differ: where all is stated fewer defaults follow what is changed. And
    // what is assumed: but for the framework and what is absent nothing is left open.
    Json all = Json::parse(again.out), some = Json::parse(run(scenario).out);
    for (const Json& assumed : all["assumed"]) CHECK(assumed["value"] == "none");
    for (Json* result : {&all, &some}) {
      (*result)["verdict"].erase("next");
      result->erase("assumed");
    }
    CHECK(all == some);
  }
}

TEST_CASE("help is what --help says, of the program and of a command") {
  for (const std::string command : {"", "run", "search"}) {
    const Outcome option = program(command + " --help"), word = program("help " + command);
    CHECK(word.code == 0);
    CHECK(word.out == option.out);
    CHECK(contains(word.out, command));
  }
  CHECK(contains(program("help nothing").err, "no command 'nothing'"));
  // Options and commands of every level, whatever else is wrong.
  for (const auto& [typed, answer] : {
           std::pair{"run x.yaml --formt json",
                     "no option '--formt' of `run`, did you mean '--format'?"},
           {"run --sett a=b", "no option '--sett' of `run`, did you mean '--set'?"},
           {"search x.yaml --onlly=tensor=1",
            "no option '--onlly' of `search`, did you mean '--only'?"},
           {"validate --jbos 3 x.yaml", "no option '--jbos' of `validate`, did you mean '--jobs'?"},
           {"calibrate fit x --outptu y",
            "no option '--outptu' of `calibrate fit`, did you mean '--output'?"},
           {"show plan x.yaml --zzzzzz", "no option '--zzzzzz' of `show`, --help lists them"},
           {"import megatrn", "no command 'megatrn' of `import`, did you mean 'megatron'?"},
           {"calibrate fitt", "no command 'fitt' of `calibrate`, did you mean 'fit'?"},
           {"check x.yaml y.yaml", "one word too many for `check`: 'y.yaml'"},
           {"--verison", "no option '--verison' of stepsim, did you mean '--version'?"},
       }) {
    const std::string words = typed;
    CAPTURE(words);
    const Outcome outcome = program(words);
    CHECK(outcome.code == 2);
    CHECK(outcome.err == std::string(answer) + "\n");
    CHECK(outcome.out.empty());
  }
  CHECK(contains(program("simulate").err, "`stepsim --help` says what they do"));
}

TEST_CASE("a folder of STEPSIM_LIBRARY has to be there; one that has nothing is said") {
  const stepsim::TemporaryFolder folder;
  const auto run_with = [](const std::string& library, int code) {
    const std::string command =
        fmt::format("STEPSIM_LIBRARY='{}' {} check '{}' 2>&1", library, STEPSIM_PROGRAM, kSmall);
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    CHECK(WEXITSTATUS(pclose(pipe)) == code);
    return text;
  };
  CHECK(run_with("/no/such/folder", 2) ==
        "STEPSIM_LIBRARY: there is no folder '/no/such/folder'\n");
  CHECK(run_with(kSmall, 2) ==
        fmt::format("STEPSIM_LIBRARY: there is no folder '{}', it is a file\n", kSmall));
  fs::create_directory(folder.file("empty"));
  CHECK(contains(run_with(folder.file("empty"), 0), "has no models/, calib/gpus/"));
  CHECK_FALSE(contains(run_with(stepsim::source_folder(), 0), "warning"));
}

TEST_CASE("an output never replaces what is read, and a trace is named as one") {
  const stepsim::TemporaryFolder folder;
  const std::string scenario = folder.file("s.yaml"), config = folder.file("ds.json");
  fs::copy_file(kSmall, scenario);
  std::ofstream(config) << R"({"train_batch_size": 64, "bf16": {"enabled": true}})";
  const std::string before = text_of(scenario);
  const auto refused = [](const Outcome& outcome, const std::string& sentence) {
    CAPTURE(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find(sentence) != std::string::npos);
  };
  refused(run(scenario, "--trace '" + scenario + "'"), "would replace a file that is read");
  CHECK(text_of(scenario) == before);
  refused(run(scenario, "--trace '" + folder.file("x.foo") + "'"), "ends in .json or .json.gz");
  const Outcome nowhere = run(scenario, "--trace '" + folder.file("none/x.json") + "'");
  CHECK(nowhere.code == 4);
  CHECK(nowhere.out.empty());
  CHECK(nowhere.err ==
        "cannot write '" + folder.file("none/x.json") + "': No such file or directory\n");
  refused(run(scenario, "--trace ''"), "a file name, in .json or .json.gz, is missing");
  refused(program("import deepspeed '" + config + "' --force -o '" + config + "'"),
          "would replace a file that is read");
  CHECK(text_of(config).starts_with("{\"train_batch_size"));
}

TEST_CASE("--trace writes valid JSON, plain or compressed, and leaves stdout to the result") {
  const stepsim::TemporaryFolder folder;
  const std::string plain = folder.file("t.json"), zipped = folder.file("t.json.gz");
  const std::string few = " --set run.steps=1 --set run.warmup=0";
  const Outcome first = run(kSmall, few + " --trace '" + plain + "'");
  const Outcome second = run(kSmall, few + " --trace '" + zipped + "'");
  CHECK(first.code == 0);
  CHECK(second.code == 0);
  CHECK(contains(first.err, plain));
  CHECK(first.out == run(kSmall, few).out);
  const std::string text = text_of(plain);
  const Json trace = Json::parse(text);
  CHECK(trace["traceEvents"].size() > 1000);
  CHECK(unzipped(zipped) == text);
  CHECK(folder.files() == 2);
}

TEST_CASE(
    "calibrate fit writes profiles, and after a mistake none, and keeps those that were there") {
  const stepsim::TemporaryFolder folder;
  const std::string examples = std::string(stepsim::source_folder()) + "/calib/examples/";
  const std::string good = examples + "h100-attention.csv",
                    links = examples + "h100-collectives.csv";
  const std::string bad = folder.file("bad.csv", "# kind=copy\nbytes,time_us\n1,-2\n");
  const auto fit = [&](const std::string& from, const std::string& options) {
    return program(fmt::format("calibrate fit {} {}", from, options));
  };
  const std::string gpu = folder.file("mine.yaml"), link = folder.file("wire.yaml");
  Outcome outcome = fit(good + " " + links, "-o " + gpu + " --link " + link);
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  CHECK(contains(outcome.out, "attention flash3, head 128"));
  const std::string before = text_of(gpu);
  CHECK(contains(before, "name: mine\n"));
  CHECK(contains(text_of(link), "name: wire\n"));

  outcome = fit(good + " " + bad, "-o " + gpu);
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, "bad.csv:3:1: 'direction' is missing\n"));
  CHECK(contains(outcome.err,
                 "bad.csv:3:3: 'seconds' is '-2', which is not positive\n  1,-2\n    ^"));
  CHECK(text_of(gpu) == before);
  CHECK(fit(bad, "-o " + folder.file("none.yaml")).code == 2);
  CHECK(fit(good, "-o " + folder.file("no/none.yaml")).code == 4);
  CHECK(fit(good + " " + links,
            "-o " + folder.file("none.yaml") + " --link " + folder.file("no/a.yaml"))
            .code == 4);
  CHECK(fit(folder.file("absent.csv"), "-o " + folder.file("none.yaml")).code == 4);
  CHECK(fit(examples, "-o " + folder.file("none.yaml")).code == 4);
  CHECK_FALSE(fs::exists(folder.file("none.yaml")));
  CHECK(folder.files() == 3);

  CHECK(contains(fit(good, "-o " + good).err, "would replace a file that is read"));
  CHECK(contains(fit(good, "-o " + folder.file("mine.txt")).err, "a file that ends in .yaml"));
  CHECK(contains(fit(good, "-o " + gpu + " --link " + gpu).err, "-o and --link are the same file"));
  CHECK(contains(fit(good, "-o " + gpu + " --link " + link).err, "no link profile"));
  const std::string one = folder.file(
      "one.csv",
      "# kind=copy\n# host=pinned\n# direction=h2d\n# device.name=H100\nbytes,time_us\n1,2\n");
  outcome = fit(one, "-o " + folder.file("none.yaml"));
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "one.csv:6:1: 1 point of copy h2d pinned, a fit needs at least 2\n"));
  const Json json = Json::parse(fit(good, "-o " + gpu + " --format json").out);
  CHECK(json.at("base") == "h100");
  CHECK(json.at("families").at(0).at("points") == 64);
  CHECK(contains(fit(good, "-o " + gpu + " --format markdown").out,
                 "| attention flash3, head 128 | 64 | "));
}

TEST_CASE("calibrate fit refuses a file and its copy, not two that have a time in common") {
  const stepsim::TemporaryFolder folder;
  const auto copies = [&](const std::string& name, int offset) {
    std::string text = "# kind=copy\n# host=pinned\n# direction=h2d\nbytes,time_us\n1024,2\n";
    for (int i = 1; i < 20; ++i) text += fmt::format("{},{}\n", 1024 << i, 2 * i + offset);
    return folder.file(name, text);
  };
  const std::string one = copies("one.csv", 1), same = copies("same.csv", 1),
                    other = copies("other.csv", 2);
  const auto fit = [&](const std::string& files) {
    return program(fmt::format("calibrate fit {} --base h100 -o {}", files, folder.file("a.yaml")));
  };
  const Outcome outcome = fit(one + " " + same);
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err,
                 "same.csv:5:1: 'copy direction=h2d host=pinned bytes=1024 "
                 "seconds=2e-06' is in another file, too: "));
  CHECK(fit(one + " " + other).code == 0);
}

TEST_CASE("--help says what the exit codes mean, and every command has a --help") {
  const Outcome help = program("--help");
  CHECK(help.code == 0);
  CHECK(contains(help.out, "Exit codes: 0 ok, 1 "));
  CHECK(contains(help.out, "70 "));
  for (const char* command : {"run", "check", "show", "list"}) {
    CAPTURE(command);
    CHECK(contains(help.out, command));
    const Outcome own = program(std::string(command) + " --help");
    CHECK(own.code == 0);
    CHECK(contains(own.out, "--help"));
  }
  CHECK(program("--version").code == 0);
}

TEST_CASE("the example of a command's --help is one of that command") {
  for (const std::string command :
       {"run", "explain", "compare", "search", "check", "show", "list", "import", "import megatron",
        "import topo", "validate", "sweep", "merge", "calibrate fit"}) {
    CAPTURE(command);
    const std::string help = program(command + " --help").out;
    const auto at = help.find("Example");
    REQUIRE(at != std::string::npos);
    CHECK(contains(help.substr(at), "stepsim " + command + " "));
  }
}

TEST_CASE("show collective names the candidates, the choice and its simulated time") {
  const std::string large = kScenarios + "gpt3-175b-1024xa100.yaml";
  const Outcome outcome =
      program("show collective " + large + " --op all_gather --bytes 8MiB --format json");
  CHECK(outcome.code == 0);
  const Json answer = Json::parse(outcome.out);
  CHECK(answer["ranks"] == 16);
  CHECK(answer["nodes"] == 16);
  int chosen = 0;
  for (const Json& candidate : answer["candidates"]) {
    if (!candidate.value("chosen", false)) continue;
    ++chosen;
    CHECK(candidate["algorithm"] == "ring");
    CHECK(candidate["protocol"] == "ll128");
    CHECK(candidate["simulated_s"].get<double>() ==
          doctest::Approx(answer["simulated_s"].get<double>()).epsilon(1e-9));
  }
  CHECK(chosen == 1);
  const Outcome stages = program("show collective " + large + " --op shift --group pipeline");
  CHECK(stages.code == 0);
  CHECK(contains(stages.out, "2 ranks on 2 nodes"));
}

TEST_CASE("show collective says what it cannot answer") {
  const auto refused = [](const std::string& options, const std::string& why) {
    const Outcome outcome = program("show collective " + kSmall + " " + options);
    CAPTURE(options);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, why));
  };
  refused("--op all_reduces --group tensor", "--op: 'all_reduces' is not a collective, did you");
  refused("--bytes 64 --group tensor", "--bytes: '64' has no unit");
  refused("--bytes '0 B' --group tensor", "must be greater than 0");
  refused("--bytes -1 --group tensor", "--bytes: '-1' must be greater than 0");
  refused("", "no group 'data' of several ranks, this scenario has: tensor");
  refused("--group tensor --set collectives.all_reduce=nvls",
          "collectives.all_reduce: nvls needs GPUs of Hopper or later");
  refused("--group tensor --set collectives.all_gather=pat",
          "collectives.all_gather: pat serves no group, it needs one GPU a node");
}

TEST_CASE("check refuses what a run would, all of it at once") {
  const Outcome outcome = program(
      "check " + kSmall + " --set collectives.all_reduce=nvls --set collectives.all_gather=pat");
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "collectives.all_reduce: nvls needs GPUs of Hopper or later"));
  CHECK(contains(outcome.err, "collectives.all_gather: pat serves no group"));
}

TEST_CASE("list names what a key may hold, and how to say it") {
  for (const auto& [what_is_listed, name] :
       std::vector<std::pair<std::string, std::string>>{{"models", "resnet50"},
                                                        {"schedules", "dualpipe"},
                                                        {"frameworks", "megatron"},
                                                        {"optimizers", "adam-8bit"},
                                                        {"conventions", "palm"},
                                                        {"attention", "flash3"}}) {
    const std::string& what = what_is_listed;
    CAPTURE(what);
    const Outcome outcome = program("list " + what);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find(name) != std::string::npos);
  }
}

TEST_CASE("replicas are the same bytes however many run at a time, and others for another seed") {
  const std::string scenario = kScenarios + "straggler-8xh100.yaml";
  const std::string options =
      "--set 'faults.jitter={kernels: {sigma: 5 %}}' --set run.replicas=6 --jobs ";
  const Outcome one = run(scenario, options + "1");
  CHECK(one.code == 0);
  CHECK(Json::parse(one.out)["replicas"]["count"] == 6);
  CHECK(one.out == run(scenario, options + "4").out);
  CHECK(one.out != run(scenario, options + "4 --set run.seed=1").out);
}

TEST_CASE("the best of a search runs as the search says, and no other is said to be faster") {
  const std::string question =
      fmt::format("search '{}' --only schedule=1f1b,interleaved --format json --keep 3", kSmall);
  const Outcome found = program(question);
  REQUIRE(found.code == 0);
  CHECK(found.err.empty());
  const Json json = Json::parse(found.out);
  CHECK(json.at("schema") == "stepsim.search/1");
  CHECK(json.at("proven") == true);
  const Json& best = json.at("strategies").at(0);
  CHECK(best.at("step_time_s").get<double>() < json.at("own").at("step_time_s").get<double>());
  CHECK(best.at("step_bound_s").get<double>() <= best.at("step_time_s").get<double>());
  const std::string command = best.at("command");
  REQUIRE(command.starts_with("stepsim run "));
  const Outcome run = program(command.substr(8) + " --format json --set expect=null");
  REQUIRE(run.code == 0);
  const Json result = Json::parse(run.out);
  CHECK(result.at("step_time_s") == best.at("step_time_s"));
  CHECK(result.at("mfu") == best.at("mfu"));
  for (const char* jobs : {"1", "3"}) CHECK(program(question + " --jobs " + jobs).out == found.out);
}

TEST_CASE("capacity: sizes, time and cost of a training, and the page of them") {
  const stepsim::TemporaryFolder folder;
  const std::string page = folder.file("sizes.html");
  const std::string question = fmt::format(
      "search '{}' --gpus 8..16 --only tensor=8 --only pipeline=1,2 --only schedule=1f1b --tokens "
      "1e9 --set 'cost.price=2 $/gpu/h' --set expect=null",
      kSmall);
  const Outcome found = program(question + " --format json --html " + page);
  REQUIRE(found.code == 0);
  const Json json = Json::parse(found.out);
  CHECK(json.at("schema") == "stepsim.capacity/1");
  REQUIRE(json.at("sizes").size() == 2);
  for (const Json& size : json.at("sizes")) {
    const double step = size.at("search").at("strategies").at(0).at("step_time_s");
    const double steps = std::ceil(1e9 / (4 * 2048));
    CHECK(size.at("training_s").get<double>() == doctest::Approx(steps * step));
    const double hours = steps * step / 3600 * size.at("gpus").get<int>();
    CHECK(size.at("gpu_hours").get<double>() == doctest::Approx(hours));
    CHECK(size.at("dollars").get<double>() == doctest::Approx(2 * hours));
  }
  CHECK(text_of(page).starts_with("<!DOCTYPE html>"));
  const Outcome cheapest = program(question + " --format json --objective cost");
  CHECK(Json::parse(cheapest.out).at("best_gpus") == 8);
  const std::pair<const char*, const char*> mistakes[] = {
      {"--gpus 12", "--gpus 12: 12 GPUs are no whole nodes of 8, but 8 and 16 are\n"},
      {"--tokens many",
       "--tokens many: a number of tokens between 1 and 1e+18 is wanted, as in 300e9 or 300B\n"},
      {"--objective speed",
       "--objective speed: unknown, known: step_time, gpus, tokens_per_s, mfu, "
       "cost, memory\n"},
      {"--gpus 8..16 --deadline 30d",
       "--deadline 30d: of what training? --tokens 300e9 says how long it is, or run.horizon in "
       "steps\n"},
      {"--tokens 1e9 --deadline soon",
       "--deadline: 'soon' is not a duration, write \"10 min\", \"90 s\", \"1.5 h\" or \"30 "
       "days\"\n"},
      {"--objective cost",
       "--objective cost: it chooses among several numbers of GPUs (--gpus 64..1024); the "
       "strategies of one are compared by their step time\n"},
      {"--only tp=8", "--only tp=8: no axis 'tp', did you mean 'tensor'?\n"},
      {"--only pp=8", "--only pp=8: no axis 'pp', did you mean 'pipeline'?\n"},
      {"--only tensor=3", "--only tensor=3: on 8 GPUs tensor can be 1, 2, 4, 8\n"},
      {"--only tensor=3 --gpus 8,16", "--only tensor=3: on 16 GPUs tensor can be 1, 2, 4, 8, 16\n"},
      {"--only dispatcher=deepep",
       "--only dispatcher=deepep: the model has no experts, to which tokens would be sent\n"},
      {"--set 'model.experts={count: 8, top_k: 2, ffn: 1024}' --set expect=null --only expert=1 "
       "--only dispatcher=deepep",
       "--only expert=1 --only dispatcher=deepep: with expert 1 each rank has all experts, so that "
       "no token is sent anywhere\n"},
      {"--set 'model.experts={count: 8, top_k: 2, ffn: 1024}' --set expect=null --set "
       "framework=pytorch-fsdp2 --only dispatcher=all_gather",
       "--only dispatcher=all_gather: dispatcher can be all_to_all, deepep, hybrid_ep, with "
       "framework pytorch-fsdp2\n"},
  };
  for (const auto& [option, message] : mistakes) {
    const Outcome refused = program(fmt::format("search '{}' {}", kSmall, option));
    CHECK(refused.code == 2);
    CHECK(refused.err == message);
  }
}

TEST_CASE("a search says what it cannot search, and what is nearest where nothing fits") {
  const auto only = [](const std::string& what) {
    return program(fmt::format("search '{}' --only {}", kSmall, what));
  };
  const std::pair<const char*, const char*> mistakes[] = {
      {"tensr=1", "--only tensr=1: no axis 'tensr', did you mean 'tensor'?\n"},
      {"tensor", "--only tensor: an axis and its values are wanted, as in \"tensor=1,2,4\"\n"},
      {"tensor=1,x", "--only tensor=1,x: 'x' is not a whole number from 1 on\n"},
      {"overlap=yes", "--only overlap=yes: 'yes' is not false or true\n"},
      {"sharding=zero9", "--only sharding=zero9: 'zero9' is not ddp, zero1, zero2 or zero3\n"},
  };
  for (const auto& [what, message] : mistakes) {
    const Outcome refused = only(what);
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err == message);
  }
  const Outcome large =
      program(fmt::format("search '{}' --only tensor=8 --only "
                          "sharding=ddp --set model=gpt3-175b --set expect=null",
                          kSmall));
  CHECK(large.code == 1);
  CHECK(large.out.find("Nothing fits") != std::string::npos);
  CHECK(large.out.find("Nothing fits   the closest is tensor 8") != std::string::npos);
}

namespace {

/// False once it has ended; waitpid() still has its status to give.
bool goes_on(pid_t child) {
  siginfo_t ended{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
  return ended.si_pid == 0;
}

void doze() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// A program that works in copies of itself, one at a time, has a result once it has started the
/// second, however busy the machine. Without /proc nobody knows; two seconds are enough on most.
void wait_for_second_copy(pid_t child) {
  const std::string children = fmt::format("/proc/{0}/task/{0}/children", child);
  if (!fs::exists(children)) return std::this_thread::sleep_for(std::chrono::seconds(2));
  std::set<std::string> copies;
  for (; copies.size() < 2 && goes_on(child); doze()) {
    std::ifstream file(children);
    for (std::string copy; file >> copy;) copies.insert(copy);
  }
}

}  // namespace

TEST_CASE("Ctrl-C during replicas prints those that are done") {
  const stepsim::TemporaryFolder folder;
  const std::string out = folder.file("out"), err = folder.file("err");
  const std::string scenario = kScenarios + "jitter-64xh100.yaml";
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    std::signal(SIGINT, SIG_DFL);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    execl(STEPSIM_PROGRAM, "stepsim", "run", scenario.c_str(), "--set", "run.replicas=100000",
          "--jobs", "1", "--format", "json", nullptr);
    _exit(127);
  }
  wait_for_second_copy(child);
  kill(child, SIGINT);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  const Json result = Json::parse(text_of(out));
  CHECK(result["interrupted"] == true);
  const Json& replicas = result["replicas"];
  CHECK(replicas["asked"] == 100000);
  CHECK(replicas["count"] >= 1);
  CHECK(replicas["count"] < 100000);
  CHECK(text_of(err).starts_with("interrupted: "));
}

/// A terminal's end that a test reads, and the name of the one that a program writes to.
class Terminal {
 public:
  Terminal() : file_(posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(file_ >= 0);
    REQUIRE(grantpt(file_) == 0);
    REQUIRE(unlockpt(file_) == 0);
  }
  ~Terminal() { close(file_); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  std::string name() const { return ptsname(file_); }

  /// What was written up to `words`, or all of it where nobody writes any more.
  std::string read_until(const std::string& words) const {
    std::string text;
    for (char one = 0; text.find(words) == std::string::npos && read(file_, &one, 1) == 1;)
      text += one;
    return text;
  }

 private:
  int file_;
};

TEST_CASE("Ctrl-C during a validation prints the rows that are done, and exits with 3") {
  const stepsim::TemporaryFolder folder;
  const Terminal terminal;  // progress is shown on one only
  const std::string out = folder.file("out"), err = terminal.name();
  const int held = open(err.c_str(), O_WRONLY | O_NOCTTY);  // until the child has it open, too
  const std::string suite = folder.file("long.yaml"), record = folder.file("record.yaml");
  {
    std::ofstream text(suite);
    text << "title: as many rows as nobody waits for\nsource: this test\nassumptions: [none]\n"
            "scenario:\n  model: mpt-125m\n  cluster: dgx-a100-80\n"
            "  training: {sequence_length: 2048, attention: flash1, global_batch: 8}\n"
            "measured: ms ms\nrows:\n";
    for (int i = 0; i < 5000; ++i) text << "  - {ms: 20}\n";
  }
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    std::signal(SIGINT, SIG_DFL);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    dup2(held, STDERR_FILENO);
    close(held);
    execl(STEPSIM_PROGRAM, "stepsim", "validate", suite.c_str(), "--jobs", "1", "--format", "json",
          "--record", record.c_str(), nullptr);
    _exit(127);
  }
  close(held);
  const std::string progress = terminal.read_until(" of 5000 rows");
  CAPTURE(progress);
  CHECK(progress.ends_with("\r\033[K1 of 5000 rows"));
  kill(child, SIGINT);
  const std::string rest = terminal.read_until("rows are done");
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(rest.find("interrupted: ") != std::string::npos);
  CHECK_FALSE(fs::exists(record));  // no part of a suite is recorded
  const Json validation = Json::parse(text_of(out));
  CHECK(validation["count"] >= 1);
  CHECK(validation["count"] < 5000);
  CHECK(validation["rows"].size() == validation["count"]);
}

TEST_CASE("a run that is interrupted while it writes a trace leaves no file behind") {
  const stepsim::TemporaryFolder folder;
  const std::string trace = folder.file("trace.json");
  const std::string scenario = kScenarios + "gpt3-175b-1024xa100.yaml";  // 230 MB of trace
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);  // a job in the background starts with SIGINT ignored
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execl(STEPSIM_PROGRAM, "stepsim", "run", scenario.c_str(), "--trace", trace.c_str(), nullptr);
    _exit(127);
  }
  while (folder.files() == 0 && goes_on(child)) doze();
  CHECK_FALSE(fs::exists(trace));  // under another name, until it is whole
  kill(child, SIGINT);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
  CHECK(folder.files() == 0);
}
