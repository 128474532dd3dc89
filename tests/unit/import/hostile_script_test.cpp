// Scripts that nobody should run: they change nothing, and end in time with a sentence.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/process/forked.hpp"
#include "tests/unit/import/imported.hpp"

using namespace stepsim;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr uid_t kNobody = 65534;

/// A folder with a script and a file that it is after; all may write there.
class Victim {
 public:
  explicit Victim(const std::string& script) {
    (void)folder_.file("kept/a", "old\n");
    path_ = folder_.file("train.sh", script + "\n");
    for (const char* open : {"", "kept", "kept/a"})
      fs::permissions(folder_.file(open), fs::perms::all);
    before_ = state();
  }
  const std::string& script() const { return path_; }
  bool is_as_before() const { return state() == before_; }

 private:
  /// Names, permissions and contents.
  std::string state() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.file(""))) {
      std::string text;
      if (entry.is_regular_file()) std::getline(std::ifstream(entry.path()), text, '\0');
      all.push_back(fmt::format("{} {} {}", entry.path().string(),
                                static_cast<int>(entry.status().permissions()), text));
    }
    std::sort(all.begin(), all.end());
    std::string joined;
    for (const std::string& one : all) joined += one + "\n";
    return joined;
  }

  TemporaryFolder folder_;
  std::string path_, before_;
};

/// What is said of it, behind the file's name; within 10 s, and with nothing changed.
std::string said_of(const std::string& script) {
  const Victim victim(script);
  const Clock::time_point begin = Clock::now();
  const std::string error = error_of({.from = "megatron", .file = victim.script()});
  CHECK(Clock::now() - begin < std::chrono::seconds(10));
  CHECK(victim.is_as_before());
  const std::size_t end = error.find(": ");
  return end == std::string::npos ? error : error.substr(end + 2, error.find('\n') - end - 2);
}

/// As the user who runs the tests, and as an ordinary one where that is root.
std::vector<std::string> said_by_both(const std::string& script) {
  std::vector<std::string> said{said_of(script)};
  if (geteuid() != 0) return said;
  const auto other = run_forked(1, 1, [&](int) {
    REQUIRE(setgid(kNobody) == 0);
    REQUIRE(setuid(kNobody) == 0);
    return said_of(script);
  });
  said.push_back(other.front().value_or("interrupted"));
  return said;
}

void check_said(const std::string& script, const std::string& expected) {
  CAPTURE(script);
  for (const std::string& said : said_by_both(script)) CHECK(said.starts_with(expected));
}

constexpr const char* kNone = "no Megatron-LM program is started here";
constexpr const char* kLate = "bash did not come to the end of the script within 6 s";

/// A port of this machine that somebody listens at.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    REQUIRE(bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(socket_, 1) == 0);
    REQUIRE(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }
  bool was_called() const {
    pollfd call{.fd = socket_, .events = POLLIN, .revents = 0};
    return poll(&call, 1, 0) > 0;
  }

 private:
  int socket_, port_ = 0;
};

}  // namespace

TEST_CASE("a script that writes writes nowhere") {
  check_said(
      "echo new > kept/a; echo new >> kept/a; echo new > kept/b; mkdir -p kept/c /tmp/kept_c\n"
      "touch kept/d; cp /etc/passwd kept/e; sed -i s/old/new/ kept/a; tee kept/f <<< new\n"
      "awk 'BEGIN { print 1 > \"kept/g\" }'; truncate -s 0 kept/a; exec 7<>kept/a; echo new >&7\n"
      "chmod 000 kept/a; mv kept/a kept/h; ln -s /etc kept/i; mktemp kept/XXXXXX; mkfifo kept/j\n"
      "echo new | dd of=kept/a; /bin/dd if=/dev/zero of=kept/a count=1; split -l1 /etc/passwd "
      "kept/k",
      kNone);
}

TEST_CASE("a script that deletes deletes nothing") {
  check_said(
      "rm -rf kept \"$(dirname \"$0\")/kept\"; rmdir kept; find kept -delete\n"
      "find kept -type f -exec rm {} +; unlink kept/a; /usr/bin/unlink kept/a; git clean -xdf",
      kNone);
}

TEST_CASE("a script that connects reaches nobody") {
  const Listener listener;
  check_said(fmt::format("exec 3<>/dev/tcp/127.0.0.1/{0}; echo a >&3\n"
                         "curl http://127.0.0.1:{0}; nc 127.0.0.1 {0}; /bin/nc 127.0.0.1 {0}",
                         listener.port()),
             kNone);
  CHECK_FALSE(listener.was_called());
}

TEST_CASE("a script that forks without end is ended") {
  // A busy machine may not come to fork so often.
  for (const std::string& said : said_by_both("b() { b | b; }; b"))
    CHECK((said.starts_with("the script runs more than 32 processes") || said.starts_with(kLate)));
}

TEST_CASE("a script that reads without end is ended") {
  check_said("a=$(cat /dev/zero)", kLate);
  check_said("cat /dev/zero > kept/a", kNone);
}

TEST_CASE("a script that waits is not waited for") {
  check_said("sleep 3600; timeout 3600 sleep 3600; read -t 3600 a < <(sleep 3600)", kNone);
  check_said(
      "trap '' TERM INT ALRM; (setsid bash -c 'while :; do sleep 1; done' &); while :; do :; done",
      kLate);
}

TEST_CASE("a script that kills kills nobody") {
  check_said("kill -9 $PPID; kill -9 -1; kill -STOP $$; exit 0", kNone);
}
