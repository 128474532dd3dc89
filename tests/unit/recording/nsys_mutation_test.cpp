// Damaged exports of Nsight Systems: whatever happens to a file, it is answered or refused.
#include <random>

#include <doctest/doctest.h>

#include "sim/recording/ranks/recorded_job.hpp"
#include "sim/report/recording/recording_report.hpp"
#include "tests/unit/recording/sample_report.hpp"

using namespace stepsim;

namespace {

constexpr int kFiles = 600;    // with damaged bytes
constexpr int kSchemas = 600;  // with damaged tables

SampleReport whole() {
  return sample_report()
      .range("ProfilerStep#3", 0, 95)
      .row("TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)", "1700000000000000000")
      .row("TARGET_INFO_GPU (id INTEGER, name TEXT)", "0, 'NVIDIA A100'")
      .row("DIAGNOSTIC_EVENT (text TEXT)", "'Not all CUDA events might have been collected.'")
      .row(
          "CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, "
          "overheadType INTEGER)",
          fmt::format("1000, 31000, {}, 8", thread_id(7, 1)))
      .row(
          "CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
          "INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, memKind INTEGER)",
          fmt::format("60000190000, 60000195000, 0, 7, 113, {}, 64, 2", process_id(7)));
}

/// Whether the file is answered; false where it is refused.
bool is_answered(const std::string& path) {
  try {
    std::vector<Observation> ranks;
    for (const Recording& recording : read_nsys(path))
      ranks.push_back(observe(recording, sample_kinds()));
    const RecordedJob job = job_of(std::move(ranks));
    CHECK_FALSE(to_table(job, {}).empty());
    CHECK(to_json(job).front() == '{');
    for (const Observation& seen : job.ranks) {
      const IdleCauses& idle = seen.idle.causes;
      CHECK(idle.tiny + idle.queued + idle.late_host + idle.launch_latency + idle.tail +
                idle.unmatched ==
            seen.idle_length());
    }
    return true;
  } catch (const UserError& error) {
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return false;
  }
}

void damage(std::string& text, std::mt19937& random) {
  for (auto times = 1 + random() % 6; times > 0 && !text.empty(); --times) {
    // Half of the damage is in the first bytes of a page: the header, and the places of rows.
    std::size_t at = random() % text.size();
    if (random() % 2 == 0) at = at / 4096 * 4096 + at % 128;
    if (random() % 16 == 0) text.resize(at);
    if (at < text.size()) text[at] = static_cast<char>(random());
  }
}

const std::vector<std::string>& tables() {
  static const std::vector<std::string> list{"CUPTI_ACTIVITY_KIND_KERNEL",
                                             "CUPTI_ACTIVITY_KIND_RUNTIME",
                                             "CUPTI_ACTIVITY_KIND_MEMCPY",
                                             "CUPTI_ACTIVITY_KIND_MEMSET",
                                             "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                             "NVTX_EVENTS",
                                             "StringIds",
                                             "TARGET_INFO_GPU",
                                             "TARGET_INFO_SESSION_START_TIME",
                                             "DIAGNOSTIC_EVENT",
                                             "META_DATA_EXPORT"};
  return list;
}

/// Statements that any of which may fail: a table that is gone has no columns.
std::string damaging_statement(std::mt19937& random) {
  constexpr const char* kColumns[] = {"start",         "end",   "globalPid",  "globalTid",
                                      "deviceId",      "text",  "textId",     "correlationId",
                                      "demangledName", "value", "utcEpochNs", "streamId"};
  constexpr const char* kValues[] = {"NULL",
                                     "-9223372036854775808",
                                     "9223372036854775807",
                                     "'x'",
                                     "1e300",
                                     "zeroblob(70)",
                                     "CAST(x'ff41fe0a' AS TEXT)",
                                     "0",
                                     "-1",
                                     "random()"};
  const std::string& table = tables()[random() % tables().size()];
  const char* column = kColumns[random() % std::size(kColumns)];
  switch (random() % 5) {
    case 0:
      return "DROP TABLE " + table;
    case 1:
      return fmt::format("ALTER TABLE {} DROP COLUMN {}", table, column);
    default:
      return fmt::format("UPDATE {} SET {} = {} WHERE random() % 2", table, column,
                         kValues[random() % std::size(kValues)]);
  }
}

}  // namespace

TEST_CASE("nsys: damaged bytes are answered or refused") {
  const TemporaryFolder folder;
  const std::string path = whole().save(folder.file("whole.sqlite"));
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::mt19937 random(2026);
  int answered = 0;
  for (int i = 0; i < kFiles; ++i) {
    CAPTURE(i);
    std::string damaged = text;
    damage(damaged, random);
    answered += is_answered(folder.file("damaged.sqlite", damaged)) ? 1 : 0;
  }
  CHECK(answered > kFiles / 20);
  CHECK(answered < kFiles);
}

TEST_CASE("nsys: damaged tables and values are answered or refused") {
  const TemporaryFolder folder;
  const std::string path = whole().save(folder.file("whole.sqlite"));
  std::mt19937 random(2026);
  int answered = 0;
  for (int i = 0; i < kSchemas; ++i) {
    CAPTURE(i);
    const std::string damaged = folder.file("damaged.sqlite");
    std::filesystem::copy_file(path, damaged, std::filesystem::copy_options::overwrite_existing);
    SQLite::Database database(damaged, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
    for (auto times = 1 + random() % 5; times > 0; --times)
      database.tryExec(damaging_statement(random));
    answered += is_answered(damaged) ? 1 : 0;
  }
  CHECK(answered > kSchemas / 2);
  CHECK(answered < kSchemas);
}
