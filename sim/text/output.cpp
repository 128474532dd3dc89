// Looks at what stands where outputs are to go.
#include "sim/text/output.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/core/error.hpp"
#include "sim/core/system/files_read.hpp"
#include "sim/text/file.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& path, int reason) {
  throw IoError(fmt::format("cannot write '{}': {}", path, std::strerror(reason)));
}

/// Whether both paths are, or would be, one regular file.
bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (fs::exists(a, ignored) && !fs::is_regular_file(a, ignored)) return false;
  if (fs::equivalent(a, b, ignored)) return true;
  const fs::path first = fs::weakly_canonical(fs::absolute(a, ignored), ignored);
  return !first.empty() && first == fs::weakly_canonical(fs::absolute(b, ignored), ignored);
}

void check_apart(const std::vector<Output>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (are_one_file(outputs[i].path, outputs[j].path))
        throw UserError(fmt::format("{} and {} are the same file, '{}'", outputs[j].role,
                                    outputs[i].role, outputs[i].path));
}

/// Files that others made, by what the outputs would take for their own.
void refuse_foreign(const std::vector<Output>& outputs) {
  std::map<std::string, std::vector<std::string>> foreign;
  std::error_code ignored;
  for (const Output& one : outputs) {
    const bool is_file = fs::is_regular_file(one.path, ignored);
    if (!is_file || one.force || one.is_update) continue;
    const bool is_empty = fs::file_size(one.path, ignored) == 0;  // as mktemp makes them
    if (!is_empty && !(one.maker.made && one.maker.made(one.path)))
      foreign[one.maker.as].push_back(one.path);
  }
  std::vector<Diagnostic> refusals;
  for (const auto& [as, files] : foreign)
    refusals.push_back(
        {.message =
             fmt::format("{} {} there already{}; --force replaces {}", fmt::join(files, ", "),
                         files.size() == 1 ? "is" : "are", as.empty() ? "" : ", and not as " + as,
                         files.size() == 1 ? "it" : "them")});
  if (!refusals.empty()) throw UserError(refusals);
}

/// The folder in which the file is renamed: where the output is a link, that of what it leads to.
std::string folder_of_output(const std::string& path) {
  std::error_code ignored;
  const bool leads_on = fs::is_symlink(path, ignored) && fs::exists(path, ignored);
  const fs::path folder = (leads_on ? fs::canonical(path) : fs::path(path)).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// Why no new file can be made in the folder; 0: one can. Where the file system has files without a
/// name, the test makes such a one, which nobody sees.
int why_not_in(const std::string& folder) {
  if (access(folder.c_str(), W_OK | X_OK) != 0) return errno;
  int file = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    const std::string trial = fmt::format("{}/stepsim.{}.tmp", folder, getpid());
    file = open(trial.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) unlink(trial.c_str());
  }
  if (file < 0) return errno;
  close(file);
  return 0;
}

/// A file that nobody may write is kept from root, too, who may.
void check_writable(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) == 0) {
    if (S_ISDIR(file.st_mode)) cannot_write(path, EISDIR);
    if (!S_ISREG(file.st_mode)) return;
    if ((file.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) cannot_write(path, EACCES);
    if (access(path.c_str(), W_OK) != 0) cannot_write(path, errno);
  }
  if (const int reason = why_not_in(folder_of_output(path)); reason != 0)
    cannot_write(path, reason);
}

}  // namespace

void check_outputs(const std::vector<Output>& all) {
  std::vector<Output> outputs;
  for (const Output& one : all)
    if (!one.path.empty()) outputs.push_back(one);
  check_apart(outputs);
  for (const Output& one : outputs)
    if (!one.is_update && was_read(one.path))
      throw UserError(fmt::format("{} '{}' would replace a file that is read", one.role, one.path));
  for (const Output& one : outputs) check_writable(one.path);
  refuse_foreign(outputs);
}

void check_replaced(const std::vector<Output>& all) {
  std::vector<Output> there;
  std::error_code ignored;
  for (const Output& one : all)
    if (fs::exists(one.path, ignored)) there.push_back(one);
  check_outputs(there);
}

}  // namespace stepsim
