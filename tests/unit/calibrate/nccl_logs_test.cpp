// Logs of nccl-tests as people have them: behind the tags of launchers, among prompts and colours,
// several in one file, over several nodes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/calibrate/measurement/read_measurements.hpp"
#include "sim/core/error.hpp"

using namespace stepsim;

namespace {

MeasuredFile read(const std::string& text, const std::string& name = "run.txt") {
  Problems problems;
  auto file = read_measurements(std::make_shared<Source>(Source{name, "", text}), problems);
  problems.throw_if_any();
  return file;
}

std::string mistake_in(const std::string& text) {
  try {
    read(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

/// A log of an older release, which does not name its program; `rows` is its table.
std::string log_of(int nodes, int gpus, const std::string& rows) {
  std::string text = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor)\n#\n";
  for (int rank = 0; rank < nodes * gpus; ++rank)
    text += fmt::format("#  Rank {:>2} Group  0 Pid {} on  node-{} device  {} [0x1b] NVIDIA H100\n",
                        rank, 100 + rank, rank / gpus, rank % gpus);
  return text +
         "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n" +
         rows + "# Avg bus bandwidth    : 54.0\n";
}

/// A result; `bus`: what busbw is for as many GPUs.
std::string row_of(const char* bus) {
  return fmt::format(
      "     1048576        262144     float     sum      -1    60.51   17.33   {0}      0    60.21 "
      "  17.42   {0}      0\n",
      bus);
}
const std::string kRow = row_of("17.33"), kRowOf4 = row_of("26.00"), kRowOf8 = row_of("30.33");

/// The text with `tag` before each line.
std::string tagged(const std::string& text, const std::string& tag) {
  std::string lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    lines += tag + text.substr(from, end - from + 1);
    from = end + 1;
  }
  return lines;
}

std::string without(std::string text, char what) {
  std::erase(text, what);
  return text;
}

const std::string kCommand = "mpirun -np 2 -N 2 ./build/all_reduce_perf -b 8 -e 8G -f 2 -g 1\n";

void check_one(const std::string& text) {
  const MeasuredFile file = read(text);
  REQUIRE(file.content.records.size() == 1);
  CHECK(identity(file.content.records[0].point) ==
        "collective op=all_reduce dtype=fp32 gpus=2 bytes=1048576");
  CHECK(file.content.records[0].measured.timing.seconds == doctest::Approx(60.51e-6));
  CHECK(file.content.device.name == "NVIDIA H100");
}

}  // namespace

TEST_CASE("the command line in front says which collective it is") {
  check_one("user@host:~$ " + kCommand + log_of(1, 2, kRow));
  check_one("+ srun --mpi=pmix all_reduce_perf_mpi -b 512M\n" + log_of(1, 2, kRow));
}

TEST_CASE("tags of launchers, labels, time stamps and quotes stand before each line") {
  for (const char* tag :
       {"[1,0]<stdout>:", "[1,0]<stdout>: ", " 0: ", "2026-01-31T12:00:00.123Z ", "[12:00:00] ",
        "Sat Jan 31 12:00:00 2026[1,0]<stdout>:", "> ", "worker-0  | "})
    check_one(tagged(kCommand + log_of(1, 2, kRow), tag));
}

TEST_CASE("a log without its number signs, with carriage returns, colours and titles") {
  const std::string log = kCommand + log_of(1, 2, kRow);
  check_one(without(log, '#'));
  check_one("\x1b]0;user@host\a\x1b[01;32muser@host\x1b[00m:\x1b[01;34m~\x1b[00m$ " + log);
  check_one("host:1:7 [0] NCCL INFO Bootstrap : Using eth0\n" + log +
            "host:1:7 [0] NCCL INFO comm 0x55 rank 0 nranks 2 - Destroy COMPLETE\n");
}

TEST_CASE("a prompt that a terminal wrapped is no result") {
  check_one(
      "user@a-host-with-a-long-name:~/nccl-tests/build$ mpirun -np 2 \\\n> -x NCCL_DEBUG=IN\n"
      "FO ./all_reduce_perf -b 1M -e 8G -f\n 2 -g 1 2>&1 | tee 1 2 run.log\n" +
      log_of(1, 2, kRow));
}

TEST_CASE("older releases print no root, and no type of reduction where nothing is reduced") {
  check_one(kCommand + log_of(1, 2,
                              "     1048576        262144     float     sum    60.51   17.33   "
                              "17.33  5e-07    60.21   17.42   17.42  5e-07\n"));
  const MeasuredFile file = read("./all_gather_perf\n" +
                                 log_of(1, 2,
                                        "     1048576        262144     float    60.51   17.33    "
                                        "8.67  0e+00    60.21   17.42    8.71  0e+00\n"));
  CHECK(file.content.records.size() == 1);
}

TEST_CASE("several tables in one file are each under their own head") {
  const std::string gather =
      "     2097152        524288     float    none      -1    82.12   25.54   19.16      0\n";
  const MeasuredFile file = read(kCommand + log_of(1, 2, kRow) + "$ ./all_gather_perf -g 4\n" +
                                 log_of(1, 4, gather) + kCommand + log_of(2, 2, kRowOf4));
  REQUIRE(file.content.records.size() == 3);
  CHECK(identity(file.content.records[1].point) ==
        "collective op=all_gather dtype=fp32 gpus=4 bytes=2097152");
  CHECK(identity(file.content.records[2].point) ==
        "collective op=all_reduce dtype=fp32 gpus=4 bytes=1048576 nodes=2");
  CHECK(mistake_in(kCommand + log_of(1, 2, kRow) + log_of(1, 4, gather))
            .find("'none' is reduced, but this is under all_reduce, put the command line") !=
        std::string::npos);
}

TEST_CASE("nodes are the hosts, and devices that come again where all hosts have one name") {
  std::string text = kCommand + log_of(2, 4, kRowOf8);
  const auto nodes = [](const std::string& log) {
    return std::get<CollectivePoint>(read(log).content.records.at(0).point).nodes;
  };
  CHECK(nodes(text) == 2);
  for (std::size_t at = text.find("node-1"); at != std::string::npos; at = text.find("node-1"))
    text.replace(at, 6, "node-0");
  CHECK(nodes(text) == 2);
}

TEST_CASE("what cannot be used names the way out") {
  const std::string uneven =
      "#  Rank  0 Group  0 Pid  1 on a device  0 [0x1b] NVIDIA H100\n"
      "#  Rank  1 Group  0 Pid  2 on a device  1 [0x1c] NVIDIA H100\n"
      "#  Rank  2 Group  0 Pid  3 on b device  0 [0x1b] NVIDIA H100\n";
  CHECK(mistake_in(kCommand + "# nThread 1 nGpus 1\n" + uneven + kRow)
            .find("the 3 ranks are on 2 nodes, of which some have more than others, measure as "
                  "many GPUs of each node") != std::string::npos);
  CHECK(mistake_in("./reduce_perf\n" + log_of(1, 2, kRow))
            .find("nothing here is made of what reduce_perf measures, leave its results out") !=
        std::string::npos);
  CHECK(mistake_in(kCommand + "# nThread 1 nGpus 1\n" + kRow)
            .find("keep the whole head of the log") != std::string::npos);
  CHECK(
      mistake_in(kCommand + log_of(1, 2, "   1O48576   262144   float   sum   -1   60.51   17.3\n"))
          .find("'1O48576' begins no result of nccl-tests") != std::string::npos);
}

TEST_CASE("the rates of a log that has lost its head tell its GPUs; their nodes are asked for") {
  const std::string table =
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
  for (const char* tag : {"", "0: ", "[1,0]<stdout>:", "    "}) {
    const std::string log = tagged(table + kRowOf8, tag);
    CHECK(mistake_in(log).find(
              "there are no '#  Rank' lines, so busbw and algbw are those of 8 "
              "GPUs, but not on how many nodes, keep the whole head of the log, or "
              "state it by a line '# nodes=N' above the results") != std::string::npos);
    const MeasuredFile file = read("# nodes=2\n" + log);
    REQUIRE(file.content.records.size() == 1);
    CHECK(identity(file.content.records[0].point) ==
          "collective op=all_reduce dtype=fp32 gpus=8 bytes=1048576 nodes=2");
  }
}

TEST_CASE("where rates are the same for any number of GPUs, a line states it") {
  const std::string table =
      "# algbw busbw\n     1048576        262144     float     sum       0    60.51   17.33   "
      "17.33 "
      "     0\n";
  CHECK(
      mistake_in("broadcast_perf\n" + table).find("state it by lines '# gpus=N' and '# nodes=N'") !=
      std::string::npos);
  const MeasuredFile file = read("# gpus=8\n# nodes=1\nbroadcast_perf\n" + table);
  CHECK(identity(file.content.records.at(0).point) ==
        "collective op=broadcast dtype=fp32 gpus=8 bytes=1048576");
}

TEST_CASE("a head that was shortened, or is another run's, does not go with its rates") {
  CHECK(mistake_in(kCommand + log_of(1, 2, kRowOf8))
            .find("busbw is 1.75 times algbw, as with 8 GPUs, but all_reduce of 2 GPUs has 1, keep "
                  "the command line and all '#  Rank' lines of each run") != std::string::npos);
  CHECK(read("# gpus=8\n# nodes=1\n" + kCommand + log_of(1, 2, kRowOf8)).content.records.size() ==
        1);
  // Results of a scatter below the command line of an all-reduce.
  const std::string scatter =
      "     1048576        262144     float     sum      -1    60.51   17.33   8.67      0\n";
  CHECK(mistake_in(kCommand + log_of(1, 2, scatter)).find("busbw is 0.5 times algbw") !=
        std::string::npos);
}

TEST_CASE("a table that is none of nccl-tests says what a result has") {
  CHECK(mistake_in("$ ./all_reduce_perf\n size  time  algbw   busbw\n 32_768  43.83  0.75  1.31\n")
            .find("there are no results of nccl-tests in the file, a result has size, count") !=
        std::string::npos);
}
