// Folders for temporary files: they go with what is in them, and where there is no place for them
// the variable is named that says where.
#include "sim/text/scratch_folder.hpp"

#include <cstdlib>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

namespace fs = std::filesystem;

/// A variable of the environment, as it was when this goes.
class Setting {
 public:
  explicit Setting(const std::string& value) {
    if (const char* was = std::getenv("TMPDIR")) was_ = was;
    setenv("TMPDIR", value.c_str(), 1);
  }
  ~Setting() {
    if (was_.empty()) {
      unsetenv("TMPDIR");
    } else {
      setenv("TMPDIR", was_.c_str(), 1);
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  std::string was_;
};

}  // namespace

TEST_CASE("a scratch folder goes, and one within it") {
  const TemporaryFolder folder;
  const Setting setting(folder.path().string());
  {
    const ScratchFolder outer;
    const ScratchFolder inner(outer.path());
    CHECK(inner.path().parent_path() == outer.path());
    CHECK(outer.path().parent_path() == fs::canonical(folder.path()));
    fs::create_directories(inner.path() / "a/b");
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("no place for temporary files is an error of files, with the variable to set") {
  const TemporaryFolder folder;
  const std::string none = folder.file("none");
  const Setting setting(none);
  CHECK_THROWS_WITH_AS(ScratchFolder(), doctest::Contains(("TMPDIR='" + none + "': ").c_str()),
                       IoError);
}
