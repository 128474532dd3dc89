// Tells SQLite's result codes apart (sqlite.org/rescode.html).
#include "sim/store/damaged_file.hpp"

#include <algorithm>
#include <array>
#include <new>

#include <fmt/format.h>
#include <sqlite3.h>

namespace stepsim {
namespace {

/// What a sound file may meet.
constexpr std::array kOfMachine{SQLITE_BUSY,     SQLITE_LOCKED, SQLITE_PERM,     SQLITE_READONLY,
                                SQLITE_IOERR,    SQLITE_FULL,   SQLITE_CANTOPEN, SQLITE_AUTH,
                                SQLITE_PROTOCOL, SQLITE_NOLFS,  SQLITE_INTERRUPT};

}  // namespace

UserError damaged_file(const std::string& path, const std::string& reason) {
  return UserError(fmt::format(
      "'{}' is damaged: {}; use a copy of it, or remove it and simulate the sweep again", path,
      reason));
}

void throw_for(const SQLite::Exception& error, const std::string& path,
               const std::string& attempt) {
  const int code = error.getErrorCode() & 0xff;  // an extended code has its kind in its last byte
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  if (code == SQLITE_NOTADB)
    throw UserError(fmt::format("'{}' is there, and is no file of sweeps", path));
  if (std::ranges::find(kOfMachine, code) != kOfMachine.end())
    throw IoError(fmt::format("cannot {} '{}': {}", attempt, path, error.what()));
  throw damaged_file(path, error.what());
}

}  // namespace stepsim
