// Databases of SQLite of a text: statements that make one, or the bytes of one.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

/// Its path. Statements are lines, and those that fail are left out; bytes begin as SQLite's files do.
inline std::string database_of(const std::string& text) {
  const std::string path = file_of("file.sqlite", text.starts_with("SQLite format 3") ? text : "");
  std::filesystem::remove(path + "-journal");
  if (text.starts_with("SQLite format 3")) return path;
  SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(
      "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA max_page_count = 1000");
  database.tryExec("BEGIN");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find("RECURSIVE") == std::string::npos)
      database.tryExec(line);  // which may be endless
  database.tryExec("COMMIT");
  return path;
}

}  // namespace stepsim
