// Scripts as they come from elsewhere: through a pipe, or with the line ends of Windows.
#include <thread>

#include <sys/stat.h>

#include "tests/unit/import/imported.hpp"

using namespace stepsim;

namespace {

const std::string kLaunch = "torchrun --nproc_per_node 8 pretrain_gpt.py " + kGpt;

/// What an import makes of a text that comes through a pipe.
template <class Import>
auto through_pipe(const std::string& text, const Import& import) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(pipe) << text; });
  const auto found = import(pipe);
  writer.join();
  return found;
}

}  // namespace

TEST_CASE("a script that comes through a pipe is evaluated here, with its arguments") {
  const auto layers_of = [](const Imported& found) {
    return std::get<Transformer>(found.scenario.model.shape).layers;
  };
  const std::string text = "#!/bin/bash\nL=$1\n" + kLaunch + "--num-layers $L\n";
  for (const std::string from : {"megatron", ""}) {
    CHECK(through_pipe(text, [&](const std::string& pipe) {
            return layers_of(imported({.from = from, .arguments = {"7"}, .file = pipe}));
          }) == 7);
  }
}

TEST_CASE("a mistake in a script that comes through a pipe has its line") {
  CHECK(through_pipe("\n" + kLaunch + "--num-layers 0\n", [](const std::string& pipe) {
          const std::string error = error_of({.from = "megatron", .file = pipe});
          return error.substr(pipe.size(), 6);
        }) == ":2:207");
}

TEST_CASE("line ends of Windows are named, in the script and in those that it reads") {
  const TemporaryFolder folder;
  const auto said_of = [&](const std::string& name) {
    const std::string error = error_of({.from = "megatron", .file = folder.file(name)});
    return error.substr(0, error.find('\n'));
  };
  const std::string script = folder.file("it's.sh", "torchrun a.py \\\r\n " + kGpt + "\r\n");
  CHECK(said_of("it's.sh") ==
        script +
            ":1:16: the script has line ends of Windows (CR LF), with which bash fails, mend "
            "them: dos2unix '" +
            folder.path().string() + "/it'\\''s.sh'");
  (void)folder.file("sizes.sh", "L=3\r\nH=4\r\n");
  (void)folder.file("train.sh", "source sizes.sh\n" + kLaunch + "--num-layers $L\n");
  CHECK(said_of("train.sh").find("sizes.sh:1:4: the script has line ends of Windows") !=
        std::string::npos);
}
