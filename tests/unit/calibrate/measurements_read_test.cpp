// Tables and the output of nccl-tests become the same records as JSON does.
#include <doctest/doctest.h>

#include "sim/calibrate/measurement/read_measurements.hpp"
#include "sim/core/error.hpp"

using namespace stepsim;

namespace {

MeasuredFile read(const std::string& name, const std::string& text) {
  Problems problems;
  auto file = read_measurements(std::make_shared<Source>(Source{name, "", text}), problems);
  problems.throw_if_any();
  return file;
}

const char* const kNccl = R"(# nccl-tests version 2.17.6 nccl-headers=22907 nccl-library=22907
# Collective test starting: all_gather_perf
# nThread 1 nGpus 2 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 1 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid  11 on     node0 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  11 on     node0 device  1 [0000:43:00] NVIDIA H100 80GB HBM3
#
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
           0             0      half    none      -1     7.10    0.00    0.00       0     7.21    0.00    0.00       0
     1048576        262144      half    none      -1    12.51   83.82   41.91     N/A    12.21   85.88   42.94     N/A
     2097152        524288      half    none      -1    1.6e+01  131.07  65.54       0    15.93  131.65   65.82       0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 54.0
)";

}  // namespace

TEST_CASE("a table of another program: constants, renamed columns, units and other words") {
  const MeasuredFile file = read("x.csv",
                                 "# from a paper\n"
                                 "# kind=collective\n"
                                 "# column.op=collective\n"
                                 "# column.gpus=n\n"
                                 "# ignore=busbw,comment\n"
                                 "collective,n,dtype,bytes_mib,time_ms,busbw,comment\n"
                                 "alltoall,8,half,1,0.25,3,\"a, b\"\n");
  REQUIRE(file.content.records.size() == 1);
  const PointRecord& record = file.content.records[0];
  CHECK(identity(record.point) == "collective op=all_to_all dtype=fp16 gpus=8 bytes=1048576");
  CHECK(record.measured.timing.seconds == doctest::Approx(0.25e-3));
  CHECK(record.measured.timing.p90 == record.measured.timing.seconds);
  CHECK(record.measured.timing.repeats == 1);
  CHECK(file.places[0].line == 7);
}

TEST_CASE("convolutions in cuDNN's words: square and unpadded where nothing is said") {
  const MeasuredFile file = read("x.csv",
                                 "# kind=convolution\n# dtype=half\n"
                                 "pass,batch,channels,height,filters,filter_height,time_us\n"
                                 "fwd,8,64,56,128,1,30\n"
                                 "bwd_weight,8,64,56,128,1,40\n");
  REQUIRE(file.content.records.size() == 2);
  CHECK(identity(file.content.records[0].point) ==
        "convolution dtype=fp16 pass=forward batch=8 channels=64 height=56 width=56 filters=128 "
        "filter_height=1 filter_width=1 stride=1 pad=0");
  CHECK(std::get<ConvolutionPoint>(file.content.records[1].point).pass ==
        ConvolutionPass::weight_gradient);
}

TEST_CASE("a filter has to fit the image with its pad") {
  const std::string head =
      "# kind=convolution\n# dtype=half\n"
      "batch,channels,height,filters,filter_height,pad,time_us\n";
  CHECK(read("x.csv", head + "8,64,5,128,7,1,30\n").content.records.size() == 1);
  CHECK_THROWS_WITH_AS(read("x.csv", head + "8,64,5,128,7,0,30\n"),
                       doctest::Contains("'filter_height' is 7, larger than the image with its "
                                         "pad, 5"),
                       UserError);
}

TEST_CASE("kernels may have been timed with their launch") {
  const MeasuredFile file = read("x.csv",
                                 "# kind=memory\n# dtype=fp32\n# with_launch=true\n"
                                 "op,rows,columns,bytes,time_us\nnorm,8192,1024,67108864,80\n");
  REQUIRE(file.content.records.size() == 1);
  CHECK(file.content.records[0].measured.with_launch);
}

TEST_CASE("columns that are not told follow from bytes, rows and the kernel's tensors") {
  const auto columns = [](const std::string& head, const std::string& row) {
    const MeasuredFile file =
        read("x.csv", "# kind=memory\n" + head + ",time_us\n" + row + ",80\n");
    return std::get<MemoryOpPoint>(file.content.records.at(0).point).columns;
  };
  CHECK(columns("op,dtype,bytes", "copy,half,4096") == 1024);
  CHECK(columns("op,dtype,bytes", "adam,fp32,28672") == 1024);
  CHECK(columns("op,dtype,rows,bytes", "norm,bf16,8,32768") == 1024);
  CHECK(columns("op,dtype,rows,bytes", "cross_entropy,bf16,8,16416") == 1024);
}

TEST_CASE("the table of docs/calibration.md has one column for each field that occurs") {
  const MeasuredFile file =
      read("x.csv",
           "# schema=stepsim.measurements/1\n"
           "# device.name=NVIDIA H100 80GB HBM3\n"
           "# device.compute_capability=9.0\n"
           "# started=2026-01-31T12:00:00Z\n"
           "kind,dtype,transpose,m,n,k,batch,accumulate,sustained,direction,host,bytes,seconds,p10,"
           "p90,repeats\n"
           "gemm,bf16,TN,4096,12288,4096,1,false,false,,,,6.1e-4,6.0e-4,6.3e-4,50\n"
           "copy,,,,,,,,,h2d,pinned,1048576,2.4e-5,2.4e-5,2.5e-5,50\n");
  CHECK(file.content.device.name == "NVIDIA H100 80GB HBM3");
  CHECK(file.content.device.compute_major == 9);
  CHECK(file.content.started == "2026-01-31T12:00:00Z");
  REQUIRE(file.content.records.size() == 2);
  CHECK(identity(file.content.records[0].point) ==
        "gemm dtype=bf16 transpose=TN m=4096 n=12288 k=4096 batch=1 accumulate=false "
        "sustained=false");
  CHECK(file.content.records[1].measured.timing.repeats == 50);
}

TEST_CASE("nccl-tests: out-of-place times, and as many ranks as its head lists") {
  const MeasuredFile file = read("run.txt", kNccl);
  CHECK(file.content.device.name == "NVIDIA H100 80GB HBM3");
  REQUIRE(file.content.records.size() == 2);  // a size of 0 is no result
  CHECK(identity(file.content.records[0].point) ==
        "collective op=all_gather dtype=fp16 gpus=2 bytes=1048576");
  CHECK(file.content.records[0].measured.timing.seconds == doctest::Approx(12.51e-6));
  CHECK(file.content.records[1].measured.timing.seconds == doctest::Approx(16e-6));
}

TEST_CASE("nccl-tests of an older release: the collective is in the file's name") {
  std::string text = kNccl;
  const std::string line = "# Collective test starting: all_gather_perf\n";
  text.erase(text.find(line), line.size());
  CHECK_THROWS_AS(read("run.txt", text), UserError);
  CHECK(read("logs/reduce_scatter_perf-8.txt", text).content.records.size() == 2);
}

TEST_CASE("nccl-tests' JSON gives what its text gives") {
  const MeasuredFile file = read(
      "run.json",
      R"({"version":"2.17","nccl_version":22907,"args":["./build/all_gather_perf","-b","1M"],"env":[],
 "config":{"ngpus":2},"devices":[
 {"rank":0,"hostname":"node0","device":0,"device_info":"NVIDIA H100 80GB HBM3"},
 {"rank":1,"hostname":"node0","device":1,"device_info":"NVIDIA H100 80GB HBM3"}],
 "results":[{"size":1048576,"count":262144,"type":"half","redop":"none","root":-1,
 "out_of_place":{"time":12.51,"alg_bw":83.82,"bus_bw":41.91,"nwrong":0},"in_place":{"time":12.2}}]})");
  REQUIRE(file.content.records.size() == 1);
  CHECK(identity(file.content.records[0].point) ==
        "collective op=all_gather dtype=fp16 gpus=2 bytes=1048576");
  CHECK(file.content.records[0].measured.timing.seconds == doctest::Approx(12.51e-6));
  CHECK(file.content.device.name == "NVIDIA H100 80GB HBM3");
}

TEST_CASE("every value of JSON is cited at its own place") {
  Problems problems;
  const std::string text = "{\"schema\": \"stepsim.measurements/1\",\n  \"points\": 7}";
  (void)read_measurements(std::make_shared<Source>(Source{"x.json", "", text}), problems);
  try {
    problems.throw_if_any();
    FAIL("accepted");
  } catch (const UserError& error) {
    REQUIRE(error.diagnostics().size() == 4);
    const Diagnostic& last = error.diagnostics().back();
    CHECK(last.message == "'points' is not a list");
    CHECK(last.line == 2);
    CHECK(last.column == 13);
  }
}
