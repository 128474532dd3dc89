// Small exports of Nsight Systems that tests write themselves.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "sim/recording/nsys/read_nsys.hpp"
#include "tests/unit/recording/sample_trace.hpp"

namespace stepsim {

/// A process of nsys by the operating system's number, and a thread of it.
constexpr std::int64_t process_id(std::int64_t process) { return 0x1000000000000 | process << 24; }
constexpr std::int64_t thread_id(std::int64_t process, std::int64_t thread) {
  return process_id(process) | thread;
}

/// Rows of an export; times are microseconds behind nsys' zero, in which 60 s have passed.
class SampleReport {
 public:
  static constexpr std::int64_t kZero = 60'000'000'000;

  explicit SampleReport(const std::string& metadata = "META_DATA_EXPORT") {
    make("StringIds (id INTEGER PRIMARY KEY, value TEXT)");
    make(metadata + " (name TEXT, value TEXT)");
    add(metadata, "'EXPORT_PRODUCT_VERSION', '2026.2.1'");
  }

  SampleReport& call(const std::string& name, int from, int to, int correlation, int process = 7,
                     int thread = 1) {
    make(
        "CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId "
        "INTEGER, nameId INTEGER)");
    return add("CUPTI_ACTIVITY_KIND_RUNTIME",
               fmt::format("{}, {}, {}, {}", times(from, to), thread_id(process, thread),
                           correlation, id_of(name)));
  }
  SampleReport& kernel(const std::string& name, int from, int to, int correlation, int process = 7,
                       int device = 0, int stream = 7) {
    make(
        "CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, globalPid INTEGER, deviceId "
        "INTEGER, streamId INTEGER, correlationId INTEGER, demangledName INTEGER, shortName "
        "INTEGER)");
    return add("CUPTI_ACTIVITY_KIND_KERNEL",
               fmt::format("{}, {}, {}, {}, {}, {}, {}", times(from, to), process_id(process),
                           device, stream, correlation, id_of(name), id_of("short")));
  }
  SampleReport& copy(int from, int to, int correlation, int bytes) {
    make(
        "CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, globalPid INTEGER, deviceId "
        "INTEGER, streamId INTEGER, correlationId INTEGER, bytes INTEGER, copyKind INTEGER, "
        "srcKind INTEGER, dstKind INTEGER)");
    return add("CUPTI_ACTIVITY_KIND_MEMCPY",
               fmt::format("{}, {}, 0, 14, {}, {}, 1, 1, 2", times(from, to), process_id(7),
                           correlation, bytes));
  }
  /// A range whose text stands in the table; `by_id`: in StringIds.
  SampleReport& range(const std::string& text, int from, int to, int process = 7, int thread = 1,
                      bool by_id = false) {
    make(
        "NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, "
        "textId INTEGER)");
    return add("NVTX_EVENTS",
               fmt::format("{}, 59, {}, {}, {}", times(from, to),
                           by_id ? "NULL" : fmt::format("'{}'", text), thread_id(process, thread),
                           by_id ? std::to_string(id_of(text)) : "NULL"));
  }
  SampleReport& row(const std::string& table_and_columns, const std::string& values) {
    make(table_and_columns);
    return add(table_and_columns.substr(0, table_and_columns.find(' ')), values);
  }
  /// Any statement of SQL, behind all the others.
  SampleReport& change(const std::string& statement) {
    changes_.push_back(statement);
    return *this;
  }

  /// Writes the database to that file.
  std::string save(const std::string& path) const {
    SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA synchronous = OFF");
    SQLite::Transaction all(database);
    for (const auto& [name, table] : tables_) database.exec("CREATE TABLE " + table);
    for (const std::string& statement : rows_) database.exec(statement);
    for (const auto& [text, id] : texts_) {
      SQLite::Statement insert(database, "INSERT INTO StringIds VALUES (?, ?)");
      insert.bind(1, id);
      insert.bind(2, text);
      insert.exec();
    }
    for (const std::string& statement : changes_) database.exec(statement);
    all.commit();
    return path;
  }

  std::vector<Recording> recordings() const {
    const TemporaryFolder folder;
    return read_nsys(save(folder.file("report.sqlite")));
  }
  Recording recording() const {
    std::vector<Recording> all = recordings();
    REQUIRE(all.size() == 1);
    return all.front();
  }
  /// The error that reading ends with; empty where there is none.
  std::string refusal() const {
    try {
      recordings();
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  }

 private:
  static std::string times(int from, int to) {
    return fmt::format("{}, {}", kZero + from * 1000LL, kZero + to * 1000LL);
  }
  int id_of(const std::string& text) {
    return texts_.try_emplace(text, static_cast<int>(texts_.size()) + 1).first->second;
  }
  void make(const std::string& table) {
    tables_.try_emplace(table.substr(0, table.find(' ')), table);
  }
  SampleReport& add(const std::string& table, const std::string& values) {
    rows_.push_back(fmt::format("INSERT INTO {} VALUES ({})", table, values));
    return *this;
  }

  std::map<std::string, std::string> tables_;  // by name
  std::map<std::string, int> texts_;           // with their ids
  std::vector<std::string> rows_, changes_;
};

/// Two steps of 100 us: a kernel, and an all-reduce of which 15 us run beside it; the second step
/// begins with a copy.
inline SampleReport sample_report() {
  SampleReport report;
  for (const int at : {0, 100}) {
    const int id = 10 + at;
    report.range(fmt::format("step_{}", 4 + at / 100), at, at + 90)
        .range("aten::mm, seq = 3, op_id = 12", at + 12, at + 32)
        .call("cudaLaunchKernel_v7000", at + 20, at + 25, id)
        .call("cudaLaunchKernelExC_v11060", at + 26, at + 30, id + 1)
        .kernel("volta_sgemm_64x64_nt", at + 30, at + 55, id)
        .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 40, at + 70, id + 1, 7, 0, 9);
  }
  return report.call("cudaMemcpyAsync_v3020_ptsz", 101, 103, 112).copy(104, 110, 112, 4096);
}

}  // namespace stepsim
