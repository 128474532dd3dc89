// A database of SQLite, read without a trace: tables that may be missing, with columns that may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace stepsim {

/// A row of a table. Columns count in the order in which they were asked for.
class NsysRow {
 public:
  explicit NsysRow(SQLite::Statement& statement) : statement_(statement) {}
  /// False for a column that the table lacks, too.
  bool has(int column) const;
  /// 0 where there is none; of text, the number that it begins with.
  std::int64_t number(int column) const;
  /// Empty where there is none. What is no text of one line (control characters, bytes that are not
  /// UTF-8) becomes blanks and question marks.
  std::string text(int column) const;

 private:
  SQLite::Statement& statement_;
};

class NsysDatabase {
 public:
  /// Opens the file for reading only, and writes nothing beside it. Throws IoError where it cannot.
  explicit NsysDatabase(const std::string& path);
  ~NsysDatabase();
  NsysDatabase(const NsysDatabase&) = delete;
  NsysDatabase& operator=(const NsysDatabase&) = delete;

  /// Names of its tables.
  const std::set<std::string>& tables() const { return tables_; }
  bool has(const std::string& table) const { return tables_.contains(table); }

  /// Hands each row of the table to `visit`. Nothing happens where the table is missing. Columns
  /// that are missing have no value.
  void each(const std::string& table, std::initializer_list<const char*> columns,
            const std::function<void(const NsysRow&)>& visit);

 private:
  std::set<std::string> columns_of(const std::string& table);

  std::size_t most_rows_ = 0;  // as many as the file may hold
  std::unique_ptr<SQLite::Database> database_;
  std::set<std::string> tables_;
};

}  // namespace stepsim
