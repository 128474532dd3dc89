// Reads tables through SQLite, also of damaged files and of files in read-only folders.
#include "sim/recording/nsys/nsys_database.hpp"

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"

namespace stepsim {
namespace {

/// A text or a row that is longer is damage: the longest of the files that were seen has 4 KiB.
constexpr int kLongestValue = 64 << 20;

/// SQLite counts bytes of a row in its page: two of the cell's place, and two of the cell itself.
constexpr std::size_t kShortestRow = 4;

/// Immutable: neither locks nor journals, so that a folder that nobody may write does no harm.
std::string address_of(const std::string& path) {
  std::string address = "file:";
  for (const char c : path) {
    const bool is_special = c == '%' || c == '?' || c == '#';
    address +=
        is_special ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return address + "?mode=ro&immutable=1";
}

std::string mended(std::string text) {
  const bool is_utf8 = first_non_text(text) == std::string::npos;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    if (static_cast<unsigned char>(c) >= 0x7f && !is_utf8) c = '?';
  }
  return text;
}

}  // namespace

bool NsysRow::has(int column) const { return !statement_.getColumn(column).isNull(); }

std::int64_t NsysRow::number(int column) const { return statement_.getColumn(column).getInt64(); }

std::string NsysRow::text(int column) const {
  const SQLite::Column value = statement_.getColumn(column);
  const char* first = value.getText();
  return mended({first, static_cast<std::size_t>(value.getBytes())});
}

NsysDatabase::NsysDatabase(const std::string& path) {
  std::error_code error;
  most_rows_ = static_cast<std::size_t>(std::filesystem::file_size(path, error)) / kShortestRow;
  if (error) throw IoError(fmt::format("cannot read {}: {}", quoted_path(path), error.message()));
  database_ = std::make_unique<SQLite::Database>(address_of(path),
                                                 SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  sqlite3_limit(database_->getHandle(), SQLITE_LIMIT_LENGTH, kLongestValue);
  database_->exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
  SQLite::Statement names(*database_, "SELECT name FROM sqlite_master WHERE type = 'table'");
  while (names.executeStep()) tables_.insert(names.getColumn(0).getString());
}

NsysDatabase::~NsysDatabase() = default;

std::set<std::string> NsysDatabase::columns_of(const std::string& table) {
  std::set<std::string> columns;
  SQLite::Statement info(*database_, "SELECT name FROM pragma_table_info(?)");
  info.bind(1, table);
  while (info.executeStep()) columns.insert(info.getColumn(0).getString());
  return columns;
}

void NsysDatabase::each(const std::string& table, std::initializer_list<const char*> columns,
                        const std::function<void(const NsysRow&)>& visit) {
  if (!has(table)) return;
  const std::set<std::string> known = columns_of(table);
  std::string wanted;
  for (const char* column : columns) {
    if (!wanted.empty()) wanted += ", ";
    wanted += known.contains(column) ? fmt::format("\"{}\"", column) : "NULL";
  }
  SQLite::Statement rows(*database_, fmt::format("SELECT {} FROM \"{}\"", wanted, table));
  for (std::size_t row = 0; rows.executeStep(); ++row) {
    // Damaged pages can lead in circles.
    if (row > most_rows_) throw SQLite::Exception("more rows than the file has room for");
    visit(NsysRow(rows));
  }
}

}  // namespace stepsim
