// What nccl-tests prints (NVIDIA/nccl-tests src/common.cu and util.cu), as text or as JSON (-J).
//
// Times are those out of place: frameworks reduce from one buffer into another or in place, and the
// two differ by a few per cent at most. The number of ranks is that of the `#  Rank` lines, the
// collective stands in the head, or in the file's name where an older release does not say it.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "sim/calibrate/measurement/read_form.hpp"
#include "sim/calibrate/measurement/read_record.hpp"

namespace stepsim {
namespace {

struct Test {
  const char* program;
  CollectiveOp op;
};
constexpr Test kTests[] = {{"all_reduce_perf", CollectiveOp::all_reduce},
                           {"all_gather_perf", CollectiveOp::all_gather},
                           {"reduce_scatter_perf", CollectiveOp::reduce_scatter},
                           {"broadcast_perf", CollectiveOp::broadcast},
                           {"alltoall_perf", CollectiveOp::all_to_all},
                           {"sendrecv_perf", CollectiveOp::shift}};

constexpr const char* kCutOff = "the file may have been cut off";

std::optional<CollectiveOp> op_in(const std::string& text) {
  for (const Test& test : kTests)
    if (text.find(test.program) != std::string::npos) return test.op;
  return {};
}

std::string programs() {
  std::vector<std::string> names;
  for (const Test& test : kTests) names.emplace_back(test.program);
  return one_of(names);
}

/// What the head of a test says.
struct Head {
  std::optional<CollectiveOp> op;
  int ranks = 0;
  std::set<std::string> hosts;
};

/// A result, its numbers as texts.
struct Result {
  Place place;
  WrittenField size, type, time, algorithm_bandwidth;
  std::string wrong;  ///< number of wrong values; "N/A": not checked
};

std::string base_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

class Results {
 public:
  Results(MeasuredFile& file, Problems& problems) : file_(file), problems_(problems) {}

  /// Whether results under that head can be used; mistakes of a head are told once.
  bool accepts(const Head& head, const Place& place) {
    if (!head.op)
      problems_.add(place, "", "neither the file nor its name says which collective this is",
                    fmt::format("call the file after its program: {}", programs()));
    if (head.ranks < 2)
      problems_.add(place, "",
                    head.ranks == 0
                        ? "there are no '#  Rank' lines, so the number of GPUs is unknown"
                        : "the test ran on one GPU, which has nobody to talk to");
    if (head.hosts.size() > 1)
      problems_.add(place, "",
                    fmt::format("the ranks are on {} hosts: a link profile is of one node",
                                head.hosts.size()));
    return head.op && head.ranks >= 2 && head.hosts.size() < 2;
  }

  void add(const Result& result, const Head& head) {
    if (result.size.text == "0") return;  // a size that rounds to no element a rank
    if (result.wrong != "0" && result.wrong != "N/A" && !result.wrong.empty())
      return problems_.add(result.place, "", fmt::format("{} values came out wrong", result.wrong),
                           "times of wrong results are none");
    WrittenRecord row{result.place,
                      {constant("kind", "collective", result.place),
                       constant("op", name_of(*head.op), result.place),
                       constant("gpus", fmt::format("{}", head.ranks), result.place), result.type,
                       result.size, result.time}};
    add_table_defaults(row);
    const auto record = read_record(row, problems_);
    if (!record || !agrees(result, record->measured.timing.seconds)) return;
    file_.content.records.push_back(*record);
    file_.places.push_back(result.place);
  }

 private:
  static WrittenField constant(const char* name, const std::string& text, const Place& place) {
    return {name, place, text, place};
  }

  /// Columns are found by their order, so that another order would go unseen but for this.
  bool agrees(const Result& result, double seconds) {
    const double bytes = std::strtod(result.size.text.c_str(), nullptr);
    const double printed = std::strtod(result.algorithm_bandwidth.text.c_str(), nullptr);
    const double rate = bytes / seconds / 1e9;
    // Two decimals are printed.
    if (std::abs(printed - rate) <= 0.01 + 0.02 * rate) return true;
    problems_.add(
        result.time.place, "",
        fmt::format("{} bytes in {} us are {:.2f} GB/s, but algbw is {}", result.size.text,
                    result.time.text, rate, result.algorithm_bandwidth.text),
        "these are not the columns of nccl-tests");
    return false;
  }

  MeasuredFile& file_;
  Problems& problems_;
};

struct Token {
  std::string text;
  int column = 1;
};

std::vector<Token> tokens_of(const std::string& line) {
  std::vector<Token> tokens;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    tokens.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
    at = line.find_first_not_of(" \t", end);
  }
  return tokens;
}

/// "NVIDIA H100 80GB HBM3" of "#  Rank  0 Group  0 Pid  9 on host device  0 [0000:1b:00] NVIDIA
/// ...". False where a bus stands at the end, without a name behind it.
bool read_rank(const std::string& line, Head& head, DeviceFacts& device) {
  ++head.ranks;
  const std::size_t on = line.find(" on "), bus = line.find(']');
  if (on != std::string::npos) {
    std::istringstream rest(line.substr(on + 4));
    std::string host;
    rest >> host;
    head.hosts.insert(host);
  }
  if (bus == std::string::npos) return true;
  const std::size_t name = line.find_first_not_of(" \t", bus + 1);
  if (name == std::string::npos) return false;
  if (device.name.empty()) device.name = line.substr(name);
  return true;
}

class TextReader {
 public:
  TextReader(const std::shared_ptr<const Source>& source, MeasuredFile& file, Problems& problems)
      : source_(source), file_(file), problems_(problems), results_(file, problems) {
    head_.op = op_in(base_name(source->name));
  }

  void read() {
    std::istringstream lines(source_->text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      const std::vector<Token> tokens = tokens_of(line);
      if (tokens.empty()) continue;
      if (tokens.front().text.starts_with('#')) {
        read_head(line, tokens, number);
      } else {
        read_result(tokens, number);
      }
    }
    if (!any_) problems_.add({source_, 1, 1}, "", "there are no results of nccl-tests in the file");
  }

 private:
  void read_head(const std::string& line, const std::vector<Token>& tokens, int number) {
    if (line.find("Collective test starting") != std::string::npos) head_.op = op_in(line);
    if (line.starts_with("# nThread")) {
      head_.ranks = 0;
      head_.hosts.clear();
      checked_ = false;
    }
    const Place end{source_, number, static_cast<int>(line.size())};
    if (tokens.size() > 2 && tokens[0].text == "#" && tokens[1].text == "Rank" &&
        !read_rank(line, head_, file_.content.device))
      problems_.add(end, "", "the line of a rank ends before the name of its GPU", kCutOff);
    if (!line.starts_with("# nccl-tests version")) return;
    if (tokens.size() < 4)
      return problems_.add(end, "", "the version of nccl-tests is missing", kCutOff);
    file_.content.software["nccl_tests"] = tokens[3].text;
  }

  /// size count type redop root time algbw busbw #wrong, and the same in place.
  void read_result(const std::vector<Token>& tokens, int number) {
    const Place place{source_, number, tokens.front().column};
    if (!std::all_of(tokens.front().text.begin(), tokens.front().text.end(),
                     [](char c) { return c >= '0' && c <= '9'; }))
      return problems_.add(
          place, "", fmt::format("{} begins no result of nccl-tests", quoted(tokens.front().text)));
    any_ = true;
    if (tokens.size() < 8)
      return problems_.add(
          place, "", fmt::format("{} values, a result has at least 8", tokens.size()), kCutOff);
    if (!std::exchange(checked_, true)) usable_ = results_.accepts(head_, place);
    if (!usable_) return;
    const auto entry = [&](const char* name, std::size_t i, double unit = 1) {
      const Place at{source_, number, tokens[i].column};
      return WrittenField{name, at, tokens[i].text, at, ValueForm::bare, unit};
    };
    results_.add({place, entry("bytes", 0), entry("dtype", 2), entry("seconds", 5, 1e-6),
                  entry("algbw", 6), tokens.size() > 8 ? tokens[8].text : ""},
                 head_);
  }

  std::shared_ptr<const Source> source_;
  MeasuredFile& file_;
  Problems& problems_;
  Results results_;
  Head head_;
  bool any_ = false, checked_ = false, usable_ = false;
};

WrittenField entry_of(const char* name, const JsonTree* value, const Place& fallback,
                      double unit = 1) {
  if (value == nullptr) return {name, fallback, "", fallback};
  return {name, value->place, value->text, value->place, ValueForm::bare, unit};
}

Head head_of(const JsonTree& json, const std::string& file, DeviceFacts& device) {
  Head head;
  head.op = op_in(base_name(file));
  if (const JsonTree* arguments = json.find("args"); arguments != nullptr) {
    for (const JsonTree& argument : arguments->items)
      if (const auto op = op_in(argument.text)) head.op = op;
  }
  const JsonTree* devices = json.find("devices");
  if (devices == nullptr) return head;
  head.ranks = static_cast<int>(devices->items.size());
  for (const JsonTree& one : devices->items) {
    if (const JsonTree* host = one.find("hostname")) head.hosts.insert(host->text);
    const JsonTree* name = one.find("device_info");
    if (name != nullptr && device.name.empty()) device.name = name->text;
  }
  return head;
}

}  // namespace

void read_nccl_text(const std::shared_ptr<const Source>& source, MeasuredFile& file,
                    Problems& problems) {
  TextReader(source, file, problems).read();
}

void read_nccl_json(const JsonTree& json, MeasuredFile& file, Problems& problems) {
  Results results(file, problems);
  const Head head = head_of(json, file.name, file.content.device);
  if (const JsonTree* version = json.find("nccl_version"))
    file.content.software["nccl"] = version->text;
  if (const JsonTree* started = json.find("start_time"); started != nullptr)
    take_started(started->text, started->place, file, problems);
  const JsonTree& list = *json.find("results");
  if (!results.accepts(head, json.place)) return;
  if (list.items.empty()) problems.add(list.place, "", "there are no results of nccl-tests");
  for (const JsonTree& one : list.items) {
    const JsonTree* times = one.find("out_of_place");
    if (times == nullptr) {
      problems.add(one.place, "", "'out_of_place' is missing");
      continue;
    }
    const JsonTree* time = times->find("time");
    if (time == nullptr) time = times->find("cpu_time");
    const JsonTree* wrong = times->find("nwrong");
    results.add({one.place, entry_of("bytes", one.find("size"), one.place),
                 entry_of("dtype", one.find("type"), one.place),
                 entry_of("seconds", time, times->place, 1e-6),
                 entry_of("algbw", times->find("alg_bw"), times->place),
                 wrong == nullptr ? "" : wrong->text},
                head);
  }
}

}  // namespace stepsim
