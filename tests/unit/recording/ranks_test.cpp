// Several ranks: calls that belong together, clocks, who comes last and why.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/recording/ranks/recorded_job.hpp"
#include "sim/report/recording/recording_report.hpp"
#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

/// A kernel of NCCL that says what it does, as Kineto does since 2024.
std::string collective(const std::string& operation, double ts, double dur, int correlation,
                       const std::string& group = "0",
                       const std::string& described = "default_pg") {
  return fmt::format(
      R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic","pid":0,"tid":9,"ts":{},"dur":{},"args":{{"device":0,"correlation":{},"Collective name":"{}","In msg nelems":1000000,"Out msg nelems":1000000,"Group size":2,"dtype":"Float","Process Group Name":"{}","Process Group Description":"{}","Process Group Ranks":"[0, 1]"}}}})",
      ts, dur, correlation, operation, group, described);
}

/// Two steps of 1 ms: a loader, a kernel, and an all-reduce that starts `late` us after 400.
Observation rank(int number, double clock, double late, double loader) {
  SampleTrace trace;
  for (int step = 0; step < 2; ++step) {
    const double at = clock + 1000 * step;
    const int id = 10 * step;
    const auto text = [&](double ts) { return fmt::format("{}", at + ts); };
    trace.annotation(fmt::format("ProfilerStep#{}", step), text(0), "1000")
        .annotation("enumerate(DataLoader)#x", text(0), fmt::format("{}", loader))
        .call("cudaLaunchKernel", text(loader), "5", id + 1)
        .call("cudaLaunchKernel", text(loader + 10), "5", id + 2)
        .kernel("sgemm", text(loader + 5), fmt::format("{}", 395 + late - loader), id + 1)
        .add(collective("allreduce", at + 400 + late, 600 - late, id + 2));
  }
  Observation seen = observed(trace.document(fmt::format(
      R"("distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": 2}},)", number)));
  return seen;
}

double of(const Observation& seen, Cause cause) { return seconds_of(seen.breakdown.of(cause)); }

}  // namespace

TEST_CASE("clocks agree where all-reduces end together") {
  const RecordedJob job = job_of({rank(1, 70'000, 0, 0), rank(0, 0, 0, 0)});
  REQUIRE(job.ranks.size() == 2);
  CHECK(job.ranks[0].rank == 0);
  CHECK(job.joined == 2);
  CHECK(job.unmatched == 0);
  REQUIRE(job.clocks.ranks[1].shift);
  CHECK(*job.clocks.ranks[1].shift == -70'000'000);
  CHECK(job.clocks.residual == 0);
  CHECK(job.late_ranks.empty());
}

TEST_CASE("who comes last is named, with what it did longer") {
  // Rank 1 waits 200 us longer for its loader, in each step; its kernel is as long as rank 0's.
  const RecordedJob job = job_of({rank(0, 0, 0, 50), rank(1, 0, 200, 250)});
  REQUIRE(job.late_ranks.size() == 1);
  const LateRank& late = job.late_ranks.front();
  CHECK(late.rank == 1);
  CHECK(late.late_s == doctest::Approx(200e-6));
  CHECK(late.last_at == 2);
  CHECK(late.of_collectives == 2);
  CHECK(late.reason == OwnWork::loader);
  CHECK(late.reason_s == doctest::Approx(200e-6));
  CHECK(late.is_stable);
  CHECK(late.before_s == 0);
  CHECK(of(job.ranks[0], Cause::sync_wait) == doctest::Approx(400e-6));
  CHECK(of(job.ranks[0], Cause::exposed_first) == 0);
  CHECK(of(job.ranks[0], exposed(Axis::data)) == doctest::Approx(800e-6));
  CHECK(of(job.ranks[1], Cause::sync_wait) == 0);
  CHECK(of(job.ranks[1], Cause::batch_wait) == doctest::Approx(500e-6));
  const RecordingVerdict verdict = verdict_of(job);
  CHECK(verdict.sentence ==
        "straggler-bound: the others wait for rank 1 for 200 us of a step (20.0 %); it waits for "
        "its loader");
}

TEST_CASE("a rank whose kernels take longer is late by its kernels") {
  const RecordedJob job = job_of({rank(0, 0, 0, 50), rank(1, 0, 150, 50)});
  REQUIRE(job.late_ranks.size() == 1);
  CHECK(job.late_ranks.front().reason == OwnWork::kernels);
  CHECK(job.late_ranks.front().reason_s == doctest::Approx(150e-6));
}

TEST_CASE("bus bandwidth is that of the shortest kernel, and a bound where members are missing") {
  const RecordedJob both = job_of({rank(0, 0, 0, 50), rank(1, 0, 200, 250)});
  REQUIRE(both.collectives.size() == 1);
  const ObservedCollective& all = both.collectives.front();
  CHECK(all.operation == "all_reduce");
  CHECK(all.group == "default_pg");
  CHECK(all.group_size == 2);
  CHECK(all.calls == 2);
  CHECK(all.bytes == 8e6);
  CHECK_FALSE(all.is_lower_bound);
  CHECK(all.bus_bytes_per_s == doctest::Approx(4e6 / 400e-6));  // 2 (n-1)/n is 1
  CHECK(all.waiting_s == doctest::Approx(200e-6));              // the mean of 400 us and none
  const RecordedJob one = job_of({rank(0, 0, 0, 50)});
  CHECK(one.collectives.front().is_lower_bound);
  CHECK(one.collectives.front().bus_bytes_per_s == doctest::Approx(4e6 / 600e-6));
  CHECK(is_said(one.not_known, "1 of 2 ranks are not here (1)"));
}

TEST_CASE("ranks that did not do the same are not matched") {
  SampleTrace trace;
  trace.annotation("ProfilerStep#0", "0", "1000").add(collective("broadcast", 400, 600, 1));
  const RecordedJob job =
      job_of({rank(0, 0, 0, 50),
              observed(trace.document(R"("distributedInfo": {"rank": 1, "world_size": 2},)"))});
  CHECK(job.joined == 0);
  CHECK(job.unmatched == 1);
  CHECK(is_said(job.not_known, "other counterparts"));
  CHECK(is_said(job.not_known, "could not be aligned"));
}

TEST_CASE("a rank with more kernels has more to do") {
  SampleTrace more;
  for (int step = 0; step < 2; ++step) {
    const auto text = [&](int ts) { return fmt::format("{}", 1000 * step + ts); };
    const int id = 10 * step;
    more.annotation(fmt::format("ProfilerStep#{}", step), text(0), "1000")
        .call("cudaLaunchKernel", text(0), "5", id + 1)
        .call("cudaLaunchKernel", text(10), "5", id + 2)
        .call("cudaLaunchKernel", text(20), "5", id + 3)
        .kernel("sgemm", text(50), "350", id + 1)
        .kernel("sgemm", text(400), "150", id + 2)
        .add(collective("allreduce", 1000 * step + 550, 450, id + 3));
  }
  const RecordedJob job =
      job_of({rank(0, 0, 0, 50),
              observed(more.document(R"("distributedInfo": {"rank": 1, "world_size": 2},)"))});
  REQUIRE(job.late_ranks.size() == 1);
  const LateRank& late = job.late_ranks.front();
  CHECK(late.has_more_work());
  CHECK(late.reason_s == doctest::Approx(155e-6));  // 500 us and not 345
  CHECK(reason_of(late) == "it has more to do: 4 kernels, and a median other rank 2");
}

TEST_CASE("communicators of equal members are told apart by their names") {
  const auto of = [&](int number, double first, double second) {
    SampleTrace trace;
    trace.annotation("ProfilerStep#0", "0", "1000")
        .add(collective("allreduce", first, 100, 1, "7", "DATA_PARALLEL_GROUP"))
        .add(collective("allreduce", second, 100, 2, "8", "DATA_PARALLEL_GROUP_WITH_CP"));
    return observed(trace.document(
        fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 2}},)", number)));
  };
  const RecordedJob job = job_of({of(0, 200, 500), of(1, 500, 200)});
  CHECK(job.joined == 2);
  CHECK(job.clocks.residual == 600'000);
  CHECK(job.late_ranks.empty());  // clocks that differ by more blame nobody
}

TEST_CASE("operations and axes are known by the words of PyTorch, Megatron and kernels") {
  CHECK(operation_named("_allgather_base") == "all_gather");
  CHECK(operation_named("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL") == "reduce_scatter");
  CHECK(operation_named("all_to_allv") == "all_to_all");
  CHECK(operation_named("void deep_ep::internode::combine<false>()") == "combine");
  CHECK(operation_named("ncclDevKernel_Generic").empty());
  CHECK(axis_of({.group_description = "TENSOR_MODEL_PARALLEL_GROUP"}, "all_reduce") ==
        Axis::tensor);
  CHECK(axis_of({.group_description = "mesh_dp_shard"}, "all_gather") == Axis::data);
  CHECK(axis_of({.group_description = "EXPERT_MODEL_PARALLEL_GROUP"}, "all_to_all") ==
        Axis::expert);
  CHECK(axis_of({.group_description = "DATA_PARALLEL_GROUP_WITH_CP"}, "all_reduce") == Axis::data);
  CHECK(axis_of({.group_description = "mesh_dp_shard_cp"}, "all_gather") == Axis::data);
  CHECK(axis_of({.group_description = "EXPERT_DATA_PARALLEL_GROUP"}, "all_reduce") == Axis::data);
  CHECK(axis_of({.group_description = "mesh_cp"}, "all_gather") == Axis::context);
  CHECK(axis_of({}, "send_receive") == Axis::pipeline);
  CHECK(axis_of({}, "send") == Axis::pipeline);
  CHECK(axis_of({}, "all_reduce") == Axis::data);
  CHECK(bus_factor("all_reduce", 4) == 1.5);
  CHECK(bus_factor("all_gather", 4) == 0.75);
  CHECK(bus_factor("all_reduce", 1) == 0);
}

TEST_CASE("who waits in a broadcast is seen by calls that still run when the last rank comes") {
  const auto rank = [](int number, int late, int length) {
    SampleTrace trace;
    trace.annotation("ProfilerStep#0", "0", "1000")
        .call("cudaLaunchKernel", fmt::format("{}", late), "1", 1)
        .call("cudaLaunchKernel", "390", "1", 2)
        .add(collective("broadcast", late, length, 1))
        .kernel("sgemm", "200", "200", 3)
        .add(collective("allreduce", 400, 600, 2));
    return observed(trace.document(
        fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 2}},)", number)));
  };
  const RecordedJob waits = job_of({rank(0, 10, 150), rank(1, 110, 50)});
  REQUIRE(waits.late_ranks.size() == 1);
  CHECK(waits.late_ranks.front().rank == 1);
  CHECK(waits.late_ranks.front().late_s == doctest::Approx(100e-6));
  CHECK(job_of({rank(0, 10, 50), rank(1, 110, 50)}).late_ranks.empty());
}

TEST_CASE("who waits in an all-reduce waits, however far its ends are apart") {
  // Two all-reduces bind the clocks; the third is shorter than its ends are apart.
  const auto rank = [](int number, double late, double apart) {
    SampleTrace trace;
    trace.annotation("ProfilerStep#0", "0", "2000");
    for (const double end : {300.0, 600.0}) trace.add(collective("allreduce", end - 50, 50, 0));
    const double start = 700 + late;
    trace.add(collective("allreduce", start, 1008 + apart - start, 0));
    return observed(trace.document(
        fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 2}},)", number)));
  };
  for (const double apart : {0.0, 12.0}) {
    const RecordedJob job = job_of({rank(0, 0, 0), rank(1, 300, apart)});
    REQUIRE(job.late_ranks.size() == 1);
    CHECK(job.late_ranks.front().late_s == doctest::Approx(300e-6));
    CHECK(job.late_ranks.front().alone_s == doctest::Approx(300e-6));
  }
}

TEST_CASE("recordings that are hardly of one run say so") {
  const char* const kHardly = "hardly of one run";
  CHECK(!is_said(job_of({rank(0, 0, 0, 0), rank(1, 50'000'000, 0, 0)}).not_known, kHardly));
  CHECK(is_said(job_of({rank(0, 0, 0, 0), rank(1, 70'000'000, 0, 0)}).not_known, kHardly));
  Observation of_four = rank(1, 0, 0, 0);
  of_four.world_size = 4;
  CHECK(is_said(job_of({rank(0, 0, 0, 0), of_four}).not_known, "of jobs of 2, 4 ranks"));
}
