// Reading files: what holds no text is refused at once, and a pipe is waited for while somebody
// writes to it.
#include "sim/core/source.hpp"

#include <chrono>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/core/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

std::string refusal_of(const std::string& path) {
  try {
    (void)read_source(path);
  } catch (const IoError& error) {
    return error.what();
  }
  return "none";
}

std::string pipe_in(const TemporaryFolder& folder, const std::string& name) {
  std::string pipe = folder.file(name);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  return pipe;
}

}  // namespace

TEST_CASE("a device and a folder are refused, however much they would give") {
  for (const std::string device : {"/dev/zero", "/dev/null"})
    CHECK(refusal_of(device) ==
          "cannot read '" + device + "': it is a device, which holds no text");
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  CHECK(refusal_of(path) == "cannot read '" + path + "': it is a folder");
  CHECK(refusal_of(folder.file("none")).ends_with("none': No such file or directory"));
}

TEST_CASE("a pipe that nobody writes to is refused") {
  const TemporaryFolder folder;
  const std::string pipe = pipe_in(folder, "pipe");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(refusal_of(pipe) == "cannot read '" + pipe + "': it is a pipe that nobody writes to");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}

TEST_CASE("a pipe's text is read to its end, though it comes late, and can be asked for again") {
  const TemporaryFolder folder;
  const std::string pipe = pipe_in(folder, "pipe");
  std::thread writer([&] {
    usleep(100'000);
    std::ofstream out(pipe);
    out << std::string(100'000, 'a') << std::flush;
    usleep(300'000);
    out << "end\n";
  });
  const auto source = read_source(pipe);
  writer.join();
  CHECK(source->text == std::string(100'000, 'a') + "end\n");
  CHECK(read_source(pipe) == source);
}

TEST_CASE("a pipe may be empty") {
  const TemporaryFolder folder;
  const std::string pipe = pipe_in(folder, "pipe");
  std::thread writer([&] { std::ofstream out(pipe); });
  CHECK(read_source(pipe)->text.empty());
  writer.join();
}

TEST_CASE("of a file that is too large one byte more is read, which shows it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("big", std::string(1000, 'a'));
  CHECK(read_source(path, 100)->text.size() == 101);
  CHECK(read_source(path, 1000)->text.size() == 1000);
}
