// Names the formats of other profilers by their first bytes and their members.
#include "sim/recording/kineto/other_formats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "sim/core/source.hpp"

namespace stepsim {
namespace {

using namespace std::string_view_literals;

struct ByHead {
  std::string_view mark;
  std::size_t at;
  std::string_view is;
};

constexpr std::array kByHead{
    ByHead{"SQLite format 3\0"sv, 0, "a database of SQLite that is compressed: unpack it first"},
    ByHead{"ustar"sv, 257, "an archive of tar: unpack it, and name one rank's file"},
    ByHead{"PK\3\4"sv, 0, "an archive of zip: unpack it, and name one rank's file"},
    ByHead{"\x28\xb5\x2f\xfd"sv, 0, "compressed by zstd: unpack it first"},
    ByHead{"\xfd"
           "7zXZ\0"sv,
           0, "compressed by xz: unpack it first"},
    ByHead{"BZh"sv, 0, "compressed by bzip2: unpack it first"},
    ByHead{"\x80\x02"sv, 0,
           "a pickle of Python (NCCL's flight recorder and PyTorch's memory snapshots are some), "
           "which is not read"},
    ByHead{"\x80\x04"sv, 0,
           "a pickle of Python (NCCL's flight recorder and PyTorch's memory snapshots are some), "
           "which is not read"},
    ByHead{"\x7f"
           "ELF"sv,
           0, "a program"},
};

struct ByMembers {
  std::vector<std::string> members;  ///< all of them are there
  std::string_view is;
};

const std::vector<ByMembers>& by_members() {
  static const std::vector<ByMembers> list{
      {{"schema", "nodes"},
       "an execution trace of PyTorch (ExecutionTraceObserver), which holds no durations: record "
       "with torch.profiler"},
      {{"workload_graph"},
       "a Chakra execution trace, which is not read: record with torch.profiler"},
      {{"rocprofiler-sdk-tool"},
       "a recording of rocprofv3, which is not read: record with torch.profiler"},
      {{"nodes", "samples"}, "a CPU profile of Chrome: it knows no GPU"},
      {{"profiles", "shared"}, "a profile of speedscope: it knows no GPU"},
      {{"segments", "device_traces"}, "a memory snapshot of PyTorch: it holds no kernels"},
      {{"hidden_size"}, "a model's config"},
  };
  return list;
}

bool is_binary(std::string_view head) {
  return std::any_of(head.begin(), head.end(), [](unsigned char c) {
    return c < 0x20 && c != '\n' && c != '\r' && c != '\t';
  });
}

}  // namespace

std::string other_format_by_head(std::string_view head, const std::string& path) {
  for (const ByHead& format : kByHead) {
    if (head.size() > format.at && head.substr(format.at).starts_with(format.mark))
      return std::string(format.is);
  }
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))
    return "a report of Nsight Systems: turn it into what is read with `nsys export --type sqlite "
           "FILE`";
  if (!is_binary(head)) return "";
  if (path.find(".xplane.pb") != std::string::npos || head.find("/host:") != std::string_view::npos)
    return "an XPlane protobuf of XLA's profiler, which is not read";
  if (path.ends_with(".et") || head.find("schema") != std::string_view::npos)
    return "a Chakra execution trace (protobuf), which is not read: record with torch.profiler";
  if (path.ends_with(".ncu-rep")) return "a report of Nsight Compute: it holds single kernels";
  return "binary, and none of the formats that are known here";
}

std::string other_format_by_members(const std::set<std::string>& members) {
  for (const ByMembers& format : by_members()) {
    if (std::ranges::all_of(format.members, [&](const auto& m) { return members.contains(m); }))
      return std::string(format.is);
  }
  return "";
}

}  // namespace stepsim
