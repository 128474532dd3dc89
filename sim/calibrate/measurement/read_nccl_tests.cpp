// What nccl-tests prints (NVIDIA/nccl-tests src/common.cu and util.cu), as text or as JSON (-J).
//
// Times are those out of place: frameworks reduce from one buffer into another or in place, and the
// two differ by a few per cent at most. The number of ranks is that of the `#  Rank` lines, the
// nodes are their hosts. The collective stands in the head, or where an older release does not say
// it, in the command line before it or in the file's name. The ratio of both rates follows from the
// collective and its GPUs (rate_ratio), so that a head that was shortened, or is another run's, shows.
//
// Logs reach us with what launchers and terminals put before and around them: tags of
// `mpirun --tag-output` ("[1,0]<stdout>:"), labels of `srun -l` ("0: "), time stamps, colours,
// prompts, NCCL's own messages. So lines are known by the words that they have, not by where they
// begin: a result is two numbers before the name of a type.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "sim/calibrate/measurement/nccl_tests_head.hpp"
#include "sim/calibrate/measurement/read_form.hpp"
#include "sim/calibrate/measurement/read_record.hpp"

namespace stepsim {
namespace {

constexpr const char* kCutOff = "the file may have been cut off";

/// A result, its numbers as texts.
struct Result {
  Place place;
  WrittenField size, type, time, algorithm_bandwidth;
  std::string bus_bandwidth;  ///< "": not printed
  std::string reduction;      ///< "sum"; "none" where nothing is reduced; "": not said
  std::string wrong;          ///< number of wrong values; "N/A": not checked
};

std::string base_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

class Results {
 public:
  Results(MeasuredFile& file, Problems& problems) : file_(file), problems_(problems) {}

  /// Completes the head by what its results tell; whether they can be used under it. Mistakes of a
  /// head are told once.
  bool accepts(NcclHead& head, const std::vector<Result>& results) {
    if (results.empty()) return false;
    const Place& place = results.front().place;
    const Ratio ratio = ratio_of(results);
    if (!head.op && head.program.empty() && ratio.of_rates > 1 + ratio.error &&
        results.front().reduction != "none")
      head.op = CollectiveOp::all_reduce;  // no other moves more than its own bytes
    const bool is_named = names_collective(head, place);
    const int told = is_named ? gpus_of_rate_ratio(*head.op, ratio.of_rates, ratio.error) : 0;
    if (head.gpus() == 0 && head.stated_nodes > 0) head.stated_gpus = told;
    const bool are_known = knows_gpus(head, told, place);
    // A result says more of what is wrong with it than its rates do.
    const bool is_another =
        head.op == CollectiveOp::all_reduce && results.front().reduction == "none";
    return is_named && are_known && (is_another || agrees_with_rates(head, ratio, told, place));
  }

  void add(const Result& result, const NcclHead& head) {
    if (result.size.text == "0") return;  // a size that rounds to no element a rank
    if (are_wrong(result.wrong))
      return problems_.add(result.place, "", fmt::format("{} values came out wrong", result.wrong),
                           "times of wrong results are none");
    if (head.op == CollectiveOp::all_reduce && result.reduction == "none")
      return problems_.add(
          result.place, "",
          fmt::format("'none' is reduced, but this is under {}", name_of(*head.op)),
          "put the command line of each test before its table");
    WrittenRecord row{result.place,
                      {constant("kind", "collective", result.place),
                       constant("op", name_of(*head.op), result.place),
                       constant("gpus", fmt::format("{}", head.gpus()), result.place), result.type,
                       result.size, result.time}};
    if (head.nodes() > 1)
      row.fields.push_back(constant("nodes", fmt::format("{}", head.nodes()), result.place));
    add_table_defaults(row);
    const auto record = read_record(row, problems_);
    if (!record || !agrees(result, record->measured.timing.seconds)) return;
    file_.content.records.push_back(*record);
    file_.places.push_back(result.place);
  }

 private:
  /// busbw over algbw, and how far both may be off it as they are printed; 0: no rate is printed.
  struct Ratio {
    double of_rates = 0, error = 0;
  };
  static Ratio ratio_of(const std::vector<Result>& results) {
    constexpr double kRounding = 0.0051;  // two decimals are printed
    double most = 0;
    Ratio ratio;
    for (const Result& result : results) {
      const double algorithm = number_of(result.algorithm_bandwidth.text);
      const double bus = number_of(result.bus_bandwidth);
      const double seconds = number_of(result.time.text) * result.time.unit;
      if (algorithm <= most || bus <= 0 || !is_rate_of(result, seconds)) continue;
      most = algorithm;
      ratio = {bus / algorithm, kRounding * (1 + bus / algorithm) / algorithm};
    }
    return ratio;
  }

  bool names_collective(const NcclHead& head, const Place& place) {
    if (head.op) return true;
    if (!head.program.empty())
      problems_.add(place, "",
                    fmt::format("nothing here is made of what {} measures", head.program),
                    fmt::format("leave its results out; of use are {}", nccl_programs()));
    if (head.program.empty())
      problems_.add(place, "", "neither the file nor its name says which collective this is",
                    fmt::format("call the file after its program: {}", nccl_programs()));
    return false;
  }

  /// `told`: the number of GPUs that the rates tell; 0: they do not.
  bool knows_gpus(const NcclHead& head, int told, const Place& place) {
    if (head.gpus() == 0 || head.lacks_nodes()) {
      const std::string gpus =
          told > 0
              ? fmt::format("busbw and algbw are those of {} GPUs, but not on how many nodes", told)
              : "the number of GPUs is unknown";
      problems_.add(
          place, "", fmt::format("there are no '#  Rank' lines, so {}", gpus),
          fmt::format("keep the whole head of the log, or state it by {}'# nodes=N' above "
                      "the results",
                      told > 0 || head.stated_gpus > 0 ? "a line " : "lines '# gpus=N' and "));
      return false;
    }
    const bool is_shortened = told > 1;  // the head, which has one of its ranks
    if (head.gpus() == 1 && !is_shortened)
      problems_.add(place, "", "the test ran on one GPU, which has nobody to talk to");
    if (!head.is_even())
      problems_.add(place, "",
                    fmt::format("the {} ranks are on {} nodes, of which some have more than others",
                                head.gpus(), head.nodes()),
                    "measure as many GPUs of each node");
    return (head.gpus() >= 2 || is_shortened) && head.is_even();
  }

  bool agrees_with_rates(const NcclHead& head, const Ratio& ratio, int told, const Place& place) {
    constexpr double kShare = 0.02;  // judgement: beyond rounding, and less than a GPU of eight
    const double expected = rate_ratio(*head.op, head.gpus());
    if (ratio.of_rates == 0 ||
        std::abs(ratio.of_rates - expected) <= kShare * expected + ratio.error)
      return true;
    problems_.add(
        place, "",
        fmt::format("busbw is {:.3g} times algbw{}, but {} of {} GPUs has {:.3g}", ratio.of_rates,
                    told > 0 ? fmt::format(", as with {} GPUs", told) : "", name_of(*head.op),
                    head.gpus(), expected),
        "keep the command line and all '#  Rank' lines of each run, or state them by lines "
        "'# gpus=N' and '# nodes=N'");
    return false;
  }

  /// Older releases print the largest deviation instead of the number of wrong values.
  static bool are_wrong(const std::string& printed) {
    constexpr double kRounding = 0.01;  // more than what sums in 16 bits deviate by
    return printed != "N/A" && std::strtod(printed.c_str(), nullptr) > kRounding;
  }

  static WrittenField constant(const char* name, const std::string& text, const Place& place) {
    return {name, place, text, place};
  }

  static double number_of(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

  /// GB/s of the result in that time.
  static double rate_of(const Result& result, double seconds) {
    return number_of(result.size.text) / seconds / 1e9;
  }

  /// Whether algbw is the rate of the result; two decimals are printed.
  static bool is_rate_of(const Result& result, double seconds) {
    const double rate = rate_of(result, seconds);
    return std::abs(number_of(result.algorithm_bandwidth.text) - rate) <= 0.01 + 0.02 * rate;
  }

  /// Columns are found by their order, so that another order would go unseen but for this.
  bool agrees(const Result& result, double seconds) {
    if (is_rate_of(result, seconds)) return true;
    problems_.add(
        result.time.place, "",
        fmt::format("{} bytes in {} us are {:.2f} GB/s, but algbw is {}", result.size.text,
                    result.time.text, rate_of(result, seconds), result.algorithm_bandwidth.text),
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

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether the word names a type of nccl-tests (test_typenames in src/common.cu).
bool is_type(const std::string& word) {
  constexpr std::string_view kBegins[] = {"int", "uint", "half",     "float",
                                          "f8",  "fp8",  "bfloat16", "double"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return word.starts_with(begin); });
}

/// What stands before a size without a blank: the tag of a launcher.
void drop_tag(Token& token) {
  const std::size_t end = token.text.find_last_of(":>|");
  if (end == std::string::npos || end + 1 == token.text.size()) return;
  token.text.erase(0, end + 1);
  token.column += static_cast<int>(end) + 1;
}

/// The words of a result, from its size on; a line that is none has none.
std::vector<Token> result_in(std::vector<Token> tokens) {
  for (std::size_t i = 2; i < tokens.size(); ++i) {
    if (!is_type(tokens[i].text) || !is_number(tokens[i - 1].text)) continue;
    drop_tag(tokens[i - 2]);
    return {tokens.begin() + static_cast<std::ptrdiff_t>(i) - 2, tokens.end()};
  }
  return {};
}

class TextReader {
 public:
  TextReader(const std::shared_ptr<const Source>& source, MeasuredFile& file, Problems& problems)
      : source_(source), file_(file), problems_(problems), results_(file, problems) {
    head_.op = nccl_program_in(base_name(source->name));
  }

  void read() {
    std::istringstream lines(source_->text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      const std::vector<Token> result = result_in(tokens_of(line));
      if (result.empty()) {
        read_head(line, number);
      } else {
        read_result(result, number);
      }
    }
    end_run();
    if (!any_)
      problems_.add({source_, 1, 1}, "", "there are no results of nccl-tests in the file",
                    "a result has size, count, type, redop, root, time, algbw and busbw in a line");
  }

 private:
  /// The results of a run are complete: its head and they have to go together.
  void end_run() {
    NcclHead head = head_;
    if (results_.accepts(head, run_))
      for (const Result& result : run_) results_.add(result, head);
    run_.clear();
  }

  void read_head(const std::string& line, int number) {
    NcclHead next = head_;
    if (next.take_program(line) || next.take_statement(line)) {
      end_run();
      head_ = std::move(next);
    }
    if (head_.begins_run(line)) {
      end_run();
      head_.forget_ranks();
    }
    const Place end{source_, number, static_cast<int>(line.size())};
    if (!read_rank(line))
      problems_.add(end, "", "the line of a rank ends before the name of its GPU", kCutOff);
    constexpr std::string_view kVersion = "nccl-tests version";
    const std::size_t version = line.find(kVersion);
    if (version == std::string::npos) return;
    std::istringstream rest(line.substr(version + kVersion.size()));
    if (std::string text; rest >> text) {
      file_.content.software["nccl_tests"] = text;
    } else {
      problems_.add(end, "", "the version of nccl-tests is missing", kCutOff);
    }
  }

  /// "#  Rank  0 Group  0 Pid  9 on host device  0 [0000:1b:00] NVIDIA H100 80GB HBM3". False where
  /// a bus stands at the end, without a name behind it. Any other line is none of a rank.
  bool read_rank(const std::string& line) {
    const std::size_t rank = line.find("Rank "), on = line.find(" on "), bus = line.find(']', on);
    if (rank == std::string::npos || on == std::string::npos || on < rank ||
        line.find(" Pid ", rank) > on)
      return true;
    ++head_.ranks;
    std::string host, word, device;
    std::istringstream(line.substr(on + 4)) >> host >> word >> device;
    ++head_.hosts[host][device];
    if (bus == std::string::npos) return true;
    const std::size_t name = line.find_first_not_of(" \t", bus + 1);
    if (name == std::string::npos) return false;
    if (file_.content.device.name.empty())
      file_.content.device.name = line.substr(name, line.find_last_not_of(" \t") + 1 - name);
    return true;
  }

  /// size count type redop root time algbw busbw #wrong, and the same in place. Where nothing is
  /// reduced or sent by a root, older releases leave redop and root out.
  void read_result(const std::vector<Token>& tokens, int number) {
    const Place place{source_, number, tokens.front().column};
    if (!is_number(tokens.front().text))
      return problems_.add(
          place, "", fmt::format("{} begins no result of nccl-tests", quoted(tokens.front().text)));
    any_ = true;
    constexpr std::size_t kRates = 3;  // time, algbw, busbw
    std::size_t time = 3;
    const bool has_reduction =
        tokens.size() > time &&
        std::isalpha(static_cast<unsigned char>(tokens[time].text.front())) != 0;
    if (has_reduction) ++time;
    // Each direction has three rates and how many values are wrong; a root makes the count odd.
    if ((tokens.size() - time) % (kRates + 1) == 1) ++time;
    if (tokens.size() < 8)
      return problems_.add(
          place, "", fmt::format("{} values, a result has at least 8", tokens.size()), kCutOff);
    const auto entry = [&](const char* name, std::size_t i, double unit = 1) {
      const Place at{source_, number, tokens[i].column};
      return WrittenField{name, at, tokens[i].text, at, ValueForm::bare, unit};
    };
    const std::size_t wrong = time + kRates;
    run_.push_back({place, entry("bytes", 0), entry("dtype", 2), entry("seconds", time, 1e-6),
                    entry("algbw", time + 1), tokens[time + 2].text,
                    has_reduction ? tokens[3].text : "",
                    tokens.size() > wrong ? tokens[wrong].text : ""});
  }

  std::shared_ptr<const Source> source_;
  MeasuredFile& file_;
  Problems& problems_;
  Results results_;
  NcclHead head_;
  std::vector<Result> run_;  ///< results that are not yet under a complete head
  bool any_ = false;
};

WrittenField entry_of(const char* name, const JsonTree* value, const Place& fallback,
                      double unit = 1) {
  if (value == nullptr) return {name, fallback, "", fallback};
  return {name, value->place, value->text, value->place, ValueForm::bare, unit};
}

NcclHead head_of(const JsonTree& json, const std::string& file, DeviceFacts& device) {
  NcclHead head;
  head.op = nccl_program_in(base_name(file));
  if (const JsonTree* arguments = json.find("args"); arguments != nullptr) {
    for (const JsonTree& argument : arguments->items) head.take_program(argument.text);
  }
  const JsonTree* devices = json.find("devices");
  if (devices == nullptr) return head;
  head.ranks = static_cast<int>(devices->items.size());
  for (const JsonTree& one : devices->items) {
    const JsonTree *host = one.find("hostname"), *number = one.find("device");
    if (host != nullptr) ++head.hosts[host->text][number == nullptr ? "" : number->text];
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
  NcclHead head = head_of(json, file.name, file.content.device);
  if (const JsonTree* version = json.find("nccl_version"))
    file.content.software["nccl"] = version->text;
  if (const JsonTree* started = json.find("start_time"); started != nullptr)
    take_started(started->text, started->place, file, problems);
  const JsonTree& list = *json.find("results");
  if (list.items.empty()) problems.add(list.place, "", "there are no results of nccl-tests");
  std::vector<Result> run;
  for (const JsonTree& one : list.items) {
    const JsonTree* times = one.find("out_of_place");
    if (times == nullptr) {
      problems.add(one.place, "", "'out_of_place' is missing");
      continue;
    }
    const JsonTree* time = times->find("time");
    if (time == nullptr) time = times->find("cpu_time");
    const JsonTree *wrong = times->find("nwrong"), *bus = times->find("bus_bw");
    run.push_back({one.place, entry_of("bytes", one.find("size"), one.place),
                   entry_of("dtype", one.find("type"), one.place),
                   entry_of("seconds", time, times->place, 1e-6),
                   entry_of("algbw", times->find("alg_bw"), times->place),
                   bus == nullptr ? "" : bus->text, "", wrong == nullptr ? "" : wrong->text});
  }
  if (!results.accepts(head, run)) return;
  for (const Result& result : run) results.add(result, head);
}

}  // namespace stepsim
