// The one-screen table: one of them letter by letter, and what changes it.
#include <algorithm>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/report/measure/straggler.hpp"
#include "sim/report/measure/verdict.hpp"
#include "sim/report/run/run_report.hpp"
#include "sim/text/humanise.hpp"
#include "tests/unit/report/sample_metrics.hpp"

using namespace stepsim;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string table(const Metrics& metrics, Screen screen = {}) {
  return to_table(metrics, sample_expectations(), screen);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// All words with one space between them.
std::string unwrapped(const std::string& text) {
  std::istringstream in(text);
  std::string words;
  for (std::string word; in >> word;) words += (words.empty() ? "" : " ") + word;
  return words;
}

}  // namespace

TEST_CASE("the header names the attention of a model that has one") {
  Metrics m = sample_metrics();
  CHECK_FALSE(has(table(m), "attention flash2"));
  m.attention = "flash2";
  CHECK(has(table(m), "data 16, 96 micro-batches of 1, attention flash2\n"));
}

TEST_CASE("a result fits on one screen and reads like this") {
  CHECK(table(sample_metrics()) == R"(gpt3-175b: gpt3-175b on 1,024 x a100-80gb (128 nodes)
tensor 8 x pipeline 8 x data 16, 96 micro-batches of 1

Step time      27.45 s            mean of 2 steps from 27.40 s to 27.50 s
Throughput       115 k tokens/s   112 tokens/s per GPU, 56.0 samples/s
Model FLOPs      138 TFLOP/s      per GPU, GEMMs and attention, causal half not
                                  taken off
MFU             44.2 %            HFU 56.7 % (recomputation counted as work)

Where the step goes on stage 0, the slowest                 █ working  ░ waiting
  forward                                  5.10 s    18.6 %  █████████▍
  recompute                                4.20 s    15.3 %  ███████▋
  backward                                10.40 s    37.9 %  ███████████████████
  optimizer                                0.21 s     0.8 %  ▍
  exposed tensor-parallel communication    4.10 s    14.9 %  ░░░░░░░
  exposed data-parallel communication      0.84 s     3.1 %  ░░
  exposed pipeline communication           0.30 s     1.1 %  ░
  pipeline bubble                          2.28 s     8.3 %  ░░░░
  waiting for kernel launches              0.01 s     0.1 %  ░
  step                                    27.45 s   100.0 %

Communication per GPU       payload      busy   exposed    hidden
  tensor                    312 GiB    5.20 s    4.10 s    1.10 s    21.2 %
  data                     5.20 GiB    0.93 s    0.84 s    0.09 s     9.7 %
  pipeline                 9.00 GiB    0.61 s    0.30 s    0.31 s    50.7 %
Overlap efficiency 23.1 %   Pipeline bubble 8.3 %   Data stall 0.0 %

Memory         fits: stage 0 needs 55.9 of 80.0 GiB in backward of micro-batch
               3: optimizer 30.5 GiB, activations 20.2, parameters 5.1

Verdict        tensor-communication-bound: with an infinitely fast network the
               step would take 22.2 s (-19.1 %)
Next           sequence parallelism (--set parallelism.sequence=true) hides part
               of it in the backward pass

Expected       ✓ step_time <= 28 s   27.45 s
               ✗ mfu >= 50 %         44.2 %

Likely error   median 4.1 %, 90th percentile 9.0 %, bias -1.0 %; 80 % range 26.1
               s to 30.5 s (112 measured runs like this one: a100, dense
               transformer, 16-bit; 3 suites of equal weight, worst bloom 16.2
               %; 6 known gaps not counted)
Simulated 8 of 1,024 ranks (the others behave alike), 125,412 events.
)");
}

TEST_CASE("the likely error says of how many runs it is, and where there are none") {
  Metrics m = sample_metrics();
  ExpectedError& error = *m.expected_error;
  const auto said = [&] {
    const std::string text = unwrapped(table(m));
    const auto from = text.find("Likely error");
    return from == std::string::npos ? "" : text.substr(from, text.find(" Simulated") - from);
  };
  error.band->unseen = {"EFA", "4096 GPUs"};
  CHECK(said().find("80 % range 26.1 s to 30.5 s, wider for what no measured run had: EFA, 4096 "
                    "GPUs (112 measured runs") != std::string::npos);
  error.band.reset();
  error.rows = 8;
  error.known = 0;
  error.suites = {"bloom"};
  CHECK(said() ==
        "Likely error median 4.1 %, 90th percentile 9.0 %, bias -1.0 % (8 measured runs like "
        "this one: a100, dense transformer, 16-bit; one suite, bloom)");
  error.known = 1;
  error.rows = 0;
  CHECK(said() ==
        "Likely error unknown: no measured runs like this one (a100, dense transformer, 16-bit; 1 "
        "known gap not counted)");
  m.expected_error.reset();
  CHECK(said().empty());
}

TEST_CASE("the screen has room for every cause, three groups and long sentences") {
  Metrics m = sample_metrics();
  m.breakdown.fill(27.45 / kCauses);
  for (int width : {80, 100, 200}) {
    const auto lines = lines_of(table(m, {.colour = false, .width = width}));
    CHECK(lines.size() <= 44);
    for (const std::string& line : lines) {
      CAPTURE(line);
      CHECK(width_of(line) <= width);
      CHECK_FALSE(line.ends_with(' '));
    }
  }
}

TEST_CASE("causes of a long list that are small are one line, and the sum is still the step") {
  Metrics m = sample_metrics();
  for (std::size_t i = 0; i < kCauses; ++i) m.breakdown[i] = static_cast<double>(i + 1);
  const auto sum_to = [](std::size_t n) { return static_cast<double>(n * (n + 1)) / 2; };
  const double step = sum_to(kCauses), rest = sum_to(kCauses - 9);
  m.step_time = Seconds{step};
  const std::string text = table(m);
  CHECK_FALSE(has(text, "  backward"));
  CHECK(has(text, fmt::format("everything else{:>30.1f} s    {:.1f} %", rest, 100 * rest / step)));
  CHECK(has(text, fmt::format("step{:>41.1f} s   100.0 %", step)));
}

TEST_CASE("colour adds only colour") {
  const std::string plain = table(sample_metrics());
  std::string coloured = table(sample_metrics(), {.colour = true, .width = 80});
  CHECK(has(coloured, "\x1b[31m✗\x1b[0m"));
  for (std::size_t at; (at = coloured.find("\x1b[")) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) + 1 - at);
  }
  CHECK(coloured == plain);
}

TEST_CASE("a model that does not fit is said where its step time is read") {
  Metrics m = sample_metrics();
  m.memory.capacity = Bytes{40 * 0x1p30};
  const std::string text = table(m);
  CHECK(has(text, "27.45 s            if it fitted in memory: see below"));
  CHECK(has(text,
            "Memory         does not fit: stage 0 needs 55.9 of 40.0 GiB in backward of\n"
            "               micro-batch 3: optimizer 30.5 GiB, activations 20.2, parameters\n"
            "               5.1\n"));
}

TEST_CASE("fragments do not keep a model from fitting, but are said") {
  Metrics m = sample_metrics();
  m.memory.stages.front().categories.push_back(
      {"fragmentation", Bytes{3 * 0x1p30}, MemoryOwner::allocator});
  m.memory.capacity = Bytes{57 * 0x1p30};
  CHECK(m.memory.fits());
  CHECK(has(table(m), "Memory         fits once cached fragments are given back: stage 0 needs"));
  CHECK_FALSE(has(table(m), "if it fitted"));
}

TEST_CASE("a model without tokens has samples") {
  Metrics m = sample_metrics();
  m.has_tokens = false;
  CHECK(has(table(m), "Throughput      56.0 samples/s"));
  m.samples = "images";
  CHECK(has(table(m), "Throughput      56.0 images/s"));
  CHECK(has(table(m), " images/s per GPU\n"));
  CHECK_FALSE(has(table(m), "tokens"));
}

TEST_CASE("one GPU has nothing to say about communication or other ranks") {
  Metrics m = sample_metrics();
  m.communication.clear();
  m.memory.stages.resize(1);
  m.gpus = m.nodes = 1;
  m.engine.ranks_total = m.engine.ranks_simulated = 1;
  const std::string text = to_table(m, {}, {});
  CHECK(has(text, "on 1 x a100-80gb (1 node)"));
  CHECK(has(text, "Where the step goes   "));
  CHECK(has(text, "fits: each GPU needs 55.9 of 80.0 GiB in backward"));
  CHECK(has(text, "\n\nPipeline bubble 8.3 %   Data stall 0.0 %\n"));
  CHECK(has(text, "Simulated 1 of 1 rank, 125,412 events.\n"));
  CHECK_FALSE(has(text, "Expected"));
}

TEST_CASE("a report warns of memory that is nearly full, for steps were longer there") {
  Metrics m = sample_metrics();
  CHECK_FALSE(has(table(m), "beware"));
  m.memory.capacity = Bytes{58 * 0x1p30};
  CHECK(has(unwrapped(table(m)),
            "beware, it fills 96 % of the memory: two of 27 measured runs at 93 % and more took "
            "about 30 % longer than predicted (validate/DEVIATIONS.md)"));
}

TEST_CASE("a straggler is the verdict where it costs much, and a line where it does not") {
  Metrics m = sample_metrics();
  m.stragglers = {{.ranks = {13}, .late = Seconds{2.7}, .stall = Seconds{2.7}}};
  m.without_stragglers = Seconds{24.75};
  m.fault_costs = {{"slow_gpus", "slow GPUs", Seconds{24.75}}};
  m.verdict = verdict(m, {}, m.step_time);
  CHECK(m.verdict.sentence ==
        "straggler: rank 13 (node 1, GPU 5) is 2.70 s a step late (its host stalls); local, 1 of "
        "1,024 ranks: the other 1,023 wait for it; without it the step would take 24.8 s (-10 %)");
  CHECK_FALSE(has(table(m), "Straggler"));
  CHECK(has(table(m), "Faults         the step without slow GPUs 24.75 s (-9.8 %)\n"));
  m.without_stragglers = m.fault_costs[0].without = Seconds{27.4};
  m.verdict = verdict(m, {}, m.step_time);
  CHECK_FALSE(has(m.verdict.sentence, "straggler"));
  CHECK(has(table(m), "Straggler      rank 13 (node 1, GPU 5) is 2.70 s a step late"));
  m.without_stragglers = m.step_time;
  CHECK(straggler_sentence(m).ends_with("1 of 1,024 ranks: nobody waits"));
}

TEST_CASE("of many stragglers the first are named, and the latest says why") {
  Metrics m = sample_metrics();
  m.stragglers = {{.ranks = {900}, .late = Seconds{2.7}, .stall = Seconds{}, .factor = 1.25},
                  {.ranks = {1, 2, 3, 4, 5}, .late = Seconds{1.7}, .stall = Seconds{1.7}}};
  m.without_stragglers = Seconds{24.75};
  CHECK(straggler_sentence(m).starts_with(
      "ranks 1, 2, 3, 4 and 2 more are up to 2.70 s a step late (their kernels take 1.25 times as "
      "long); local, 6 of 1,024 ranks: the other 1,018 wait for them; without them"));
}

TEST_CASE("slow links and jitter that cost much are the verdict") {
  Metrics m = sample_metrics();
  m.fault_costs = {{"slow_links", "slow links", Seconds{20}}, {"jitter", "jitter", Seconds{27}}};
  CHECK(verdict(m, {}, m.step_time).sentence ==
        "held up by slow links: without slow links the step would take 20.0 s (-27 %)");
}

TEST_CASE("replicas are a mean with its confidence, and how many were done") {
  Metrics m = sample_metrics();
  m.replicas = Replicas{.asked = 3, .steps = {Seconds{27}, Seconds{28}, Seconds{29}}};
  m.replicas->statistics = statistics_of(m.replicas->steps);
  // Student's t for two degrees of freedom: 4.3027; over the root of 3: 2.484.
  CHECK(has(unwrapped(table(m)),
            "Replicas 3: mean 28.00 s ± 2.48 s, median 28.00 s, p95 28.90 s, from 27.00 s to 29.00 "
            "s; what stands here is the one in the middle"));
  m.replicas->asked = 100;
  CHECK(has(table(m), "Replicas       3 of 100: mean"));
}

TEST_CASE("an empty result is a table too") { CHECK(has(to_table({}, {}, {}), "Step time")); }

TEST_CASE("steps that differ are a range, steps that do not are said to be alike") {
  Metrics m = sample_metrics();
  CHECK(has(table(m), "mean of 2 steps from 27.40 s to 27.50 s"));
  m.steps = {Seconds{27.45}, Seconds{27.45}, Seconds{27.45}};
  CHECK(has(table(m), "3 steps, all alike"));
  m.steps = {Seconds{27.45}};
  CHECK(has(table(m), "27.45 s            1 step\n"));
}

TEST_CASE("numbers have three digits and the unit that fits") {
  CHECK(humanise(Seconds{0.0412}).text() == "41.2 ms");
  CHECK(humanise(Seconds{3.968}).text() == "3.97 s");
  CHECK(humanise(Seconds{9.996e-3}).text() == "10.0 ms");
  CHECK(humanise(Seconds{0.9996}).text() == "1.00 s");
  CHECK(humanise(Seconds{2.5e-6}).text() == "2.50 us");
  CHECK(humanise(Seconds{}).text() == "0.00 s");
  CHECK(humanise(Seconds{86400}).text() == "86400 s");
  CHECK(humanise(Bytes{61 * 0x1p30}).text() == "61.0 GiB");
  CHECK(humanise(Bytes{512}).text() == "512 B");
  CHECK(humanise(Bytes{1000 * 0x1p20}).text() == "0.98 GiB");
  CHECK(humanise(1.2e6, "tokens/s").text() == "1.20 M tokens/s");
  CHECK(humanise(999.6, "tokens/s").text() == "1.00 k tokens/s");
  CHECK(humanise(54.74, "samples/s").text() == "54.7 samples/s");
  CHECK(percent(0.4424) == "44.2 %");
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1536) == "1,536");
  CHECK(grouped(-1234567) == "-1,234,567");
}

TEST_CASE("a column has one unit, and as many decimals as its largest number needs") {
  const Column times = column_for(Seconds{27.45});
  CHECK(times.text(27.45) == "27.45 s");
  CHECK(times.text(0.012) == "0.01 s");
  CHECK(column_for(Seconds{0.4123}).text(0.0312) == "31.2 ms");
  CHECK(column_for(Bytes{61 * 0x1p30}).number(0x1p29) == "0.5");
}

TEST_CASE("text wraps at words, and a bar shows that there is something") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("unbreakable", 3) == std::vector<std::string>{"unbreakable"});
  CHECK(wrap("", 3) == std::vector<std::string>{""});
  CHECK(solid_bar(0.5, 3) == "█▌");
  CHECK(solid_bar(1e-9, 3) == "▏");
  CHECK(solid_bar(0, 3).empty());
  CHECK(solid_bar(2, 3) == "███");
  CHECK(shaded_bar(0.5, 4) == "░░");
  CHECK(shaded_bar(1e-9, 4) == "░");
}
