// Work in processes of its own: in order, with its errors, and what is done when interrupted.
#include "sim/process/forked.hpp"

#include <array>
#include <csignal>
#include <functional>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/error.hpp"
#include "sim/core/system/work_done.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/process/patience.hpp"

using namespace stepsim;

TEST_CASE("results come in order, however many run at a time and whichever is first") {
  for (const int jobs : {1, 3, 50}) {
    CAPTURE(jobs);
    const auto results = run_forked(20, jobs, [](int i) {
      usleep(static_cast<useconds_t>(1000 * (20 - i)));
      return fmt::format("result {}", i);
    });
    REQUIRE(results.size() == 20);
    for (int i = 0; i < 20; ++i)
      CHECK(results[static_cast<std::size_t>(i)] == fmt::format("result {}", i));
  }
}

TEST_CASE("a result may be longer than a pipe holds") {
  const auto results =
      run_forked(3, 2, [](int i) { return std::string(1'000'000, char('a' + i)); });
  for (int i = 0; i < 3; ++i)
    CHECK(results[static_cast<std::size_t>(i)] == std::string(1'000'000, char('a' + i)));
}

TEST_CASE("each piece of work has a process of its own") {
  static int calls = 0;
  for (const auto& result : run_forked(4, 1, [](int) { return fmt::format("{}", ++calls); }))
    CHECK(result == "1");
  CHECK(calls == 0);
}

TEST_CASE("kept copies do one piece after the other, and what ends one loses no other piece") {
  static int calls = 0;
  const auto counted = [](int) { return fmt::format("{}", ++calls); };
  const auto one_after_the_other = run_forked(4, 1, counted, Copies::kept);
  for (std::size_t i = 0; i < 4; ++i) CHECK(one_after_the_other[i] == fmt::format("{}", i + 1));
  CHECK(calls == 0);

  const auto work = [](int i) -> std::string {
    if (i == 3) raise(SIGKILL);
    if (i == 5) throw UserError("no");
    if (i == 7) _exit(0);
    return std::string(100'000, char('a' + i));
  };
  for (const int jobs : {1, 3}) {
    CAPTURE(jobs);
    const auto all = try_forked(12, jobs, work, {}, Copies::kept);
    REQUIRE(all.size() == 12);
    for (int i = 0; i < 12; ++i) {
      CAPTURE(i);
      const Forked& one = all[static_cast<std::size_t>(i)];
      CHECK(one.is_done);
      CHECK(one.error.empty() == (i != 3 && i != 5 && i != 7));
      if (one.error.empty()) CHECK(one.result == std::string(100'000, char('a' + i)));
    }
  }
}

TEST_CASE("a kept copy has its time for each piece, and memory that is limited has fresh copies") {
  std::vector<Ended> all(4);
  std::int64_t next = 0;
  const auto source = [&]() -> std::optional<std::int64_t> {
    return next < 4 ? std::optional(next++) : std::nullopt;
  };
  static int calls = 0;
  const auto work = [](std::int64_t i) -> std::string {
    if (i == 1) pause();
    usleep(200'000);
    return fmt::format("{}", ++calls);
  };
  const auto keep = [&](Ended ended) { all[static_cast<std::size_t>(ended.index)] = ended; };
  CHECK(stream_forked(source, 1, {.seconds = 0.5, .copies = Copies::kept}, work, keep));
  CHECK(all[0].text == "1");
  CHECK(all[1].how == Ending::timed_out);
  CHECK(all[2].text == "1");  // of the copy that took the place of the one that hung
  CHECK(all[3].text == "2");
#ifndef __SANITIZE_ADDRESS__  // it maps more than any limit
  next = 2;
  CHECK(stream_forked(source, 1, {.bytes = 1e9, .copies = Copies::kept}, work, keep));
  CHECK(all[3].text == "1");
#endif
}

TEST_CASE("an error in a process is the caller's") {
  const auto fail = [](auto error) {
    return [=](int i) -> std::string {
      if (i == 1) throw error;
      return "";
    };
  };
  CHECK_THROWS_WITH_AS(run_forked(3, 2, fail(UserError("wrong"))), "wrong", UserError);
  CHECK_THROWS_WITH_AS(run_forked(3, 2, fail(SimulationError("locked"))), "locked",
                       SimulationError);
  CHECK_THROWS_WITH_AS(run_forked(3, 2, fail(IoError("gone"))), "gone", IoError);
  CHECK_THROWS_WITH_AS(run_forked(3, 2, fail(InternalError("odd"))), "odd", InternalError);
  CHECK_THROWS_AS(run_forked(3, 2, [](int) -> std::string { _exit(1); }), InternalError);
}

TEST_CASE("Ctrl-C leaves what is done by then") {
  const auto before = std::signal(SIGINT, SIG_DFL);
  const auto results = run_forked(10, 2, [](int i) -> std::string {
    if (i < 4) return "done";
    usleep(300'000);  // by now they are
    kill(getppid(), SIGINT);
    for (;;) pause();
  });
  std::signal(SIGINT, before);
  REQUIRE(results.size() == 10);
  for (std::size_t i = 0; i < 4; ++i) CHECK(results[i] == "done");
  for (std::size_t i = 4; i < 10; ++i) CHECK_FALSE(results[i].has_value());
}

TEST_CASE("what is looked for in vain keeps nobody from Ctrl-C, limits and answers") {
  const auto before = std::signal(SIGINT, SIG_DFL);
  int asked = 0, done = 0;
  const auto work = [](std::int64_t) -> std::string { return "done"; };
  const auto next = [&]() -> NextPiece {
    ++asked;
    if (asked == 1) return {7};
    if (asked == 50) raise(SIGINT);
    usleep(asked < 50 ? 10'000 : 0);
    return NextPiece::later();
  };
  CHECK_FALSE(stream_forked(next, 2, {}, work, [&](const Ended& ended) {
    CHECK(ended.index == 7);
    CHECK(asked < 50);
    ++done;
  }));
  std::signal(SIGINT, before);
  CHECK(asked == 50);
  CHECK(done == 1);

  asked = 0;
  const auto three_looks = [&]() -> NextPiece {
    return ++asked < 3 ? NextPiece::later() : NextPiece{std::nullopt};
  };
  CHECK(stream_forked(three_looks, 2, {}, work, [](const Ended&) {}));
  CHECK(asked == 3);
}

TEST_CASE("work that hangs, wants all memory or dies has a reason, and the rest goes on") {
  std::vector<Ended> all(5);
  std::int64_t next = 0;
  const auto source = [&]() -> std::optional<std::int64_t> {
    return next < 5 ? std::optional(next++) : std::nullopt;
  };
  const auto work = [](std::int64_t i) -> std::string {
    if (i == 0) pause();
    // NOLINTNEXTLINE(bugprone-string-constructor): more than there may be
    if (i == 1) return std::string(std::string(4'000'000'000, 'x').size() > 1 ? "much" : "little");
    if (i == 2) raise(SIGKILL);
    if (i == 3) throw UserError("no");
    return "done";
  };
  const bool whole =
      stream_forked(source, 2, {.seconds = 0.5, .bytes = 1e9}, work, [&](Ended ended) {
        const auto i = static_cast<std::size_t>(ended.index);
        all[i] = std::move(ended);
      });
  CHECK(whole);
  CHECK(all[0].how == Ending::timed_out);
  CHECK(all[0].text == "longer than 0.5 s");
#ifndef __SANITIZE_ADDRESS__  // it maps more than any limit, and ends what asks for too much
  CHECK(all[1].how == Ending::out_of_memory);
  CHECK(all[1].text == "more than 954 MiB of memory");
#endif
  CHECK(all[2].how == Ending::crashed);
  CHECK(all[2].text.find("signal 9") != std::string::npos);
  CHECK(all[3].how == Ending::user_error);
  CHECK(all[4].text == "done");
}

namespace {

/// What becomes of a copy of this process that does that; what it prints to standard error goes to
/// `said`.
int status_after(const std::function<void()>& act, std::string* said = nullptr) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t copy = fork();
  if (copy == 0) {
    std::signal(SIGINT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    act();
    _exit(0);
  }
  close(ends[1]);
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
    if (said != nullptr) said->append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(copy, &status, 0) == copy);
  return status;
}

}  // namespace

TEST_CASE("a second Ctrl-C ends the process, but not one that was sent along with the first") {
  const auto twice = [](unsigned seconds) {
    return status_after([=] {
      const InterruptNoted noted;
      raise(SIGINT);
      if (!InterruptNoted::came()) _exit(1);
      sleep(seconds);
      raise(SIGINT);
    });
  };
  CHECK(twice(0) == 0);
  const int late = twice(3);
  CHECK(WIFSIGNALED(late));
  CHECK(WTERMSIG(late) == SIGINT);
}

TEST_CASE("Ctrl-C before there is anything to print says so") {
  std::string said;
  const int status = status_after(
      [] {
        exit_when_interrupted();
        raise(SIGINT);
      },
      &said);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == static_cast<int>(ExitCode::incomplete));
  CHECK(said == "interrupted before the first simulation\n");
}

TEST_CASE("who waits for more than two seconds is told for what, and the line is emptied") {
  const auto told = [](bool is_on, useconds_t wait) {
    std::string said;
    status_after(
        [=] {
          Patience patience(is_on);
          patience.begins("planning");
          for (useconds_t i = 0; i < wait / 100'000; ++i)
            usleep(100'000);  // a signal cuts one short
          patience.begins("simulating");
        },
        &said);
    return said;
  };
  CHECK(told(true, 0).empty());
  CHECK(told(false, 2'500'000).empty());
  CHECK(told(true, 2'500'000) == "\r\033[Kplanning ...\r\033[Ksimulating ...\r\033[K");
}

TEST_CASE("who waits for a simulation is told how far it is, and how long the rest will take") {
  std::string said;
  status_after(
      [] {
        Patience patience(true);
        patience.begins("simulating");
        WorkCount count(200'000);
        for (int alarm = 0; alarm < 2; ++alarm) {
          for (int i = 0; i < 70'000; ++i) count.add_one();
          usleep(10'000);
          raise(SIGALRM);
        }
      },
      &said);
  CHECK(said.starts_with("\r\033[Ksimulating ... 32 %\r\033[Ksimulating ... 65 %, "));
  CHECK(said.ends_with(" s left\r\033[K"));
}
