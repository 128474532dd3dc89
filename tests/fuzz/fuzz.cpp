// From libFuzzer's bytes to the reader: which errors are answers, and which are finds.
#include "tests/fuzz/fuzz.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "sim/core/error.hpp"
#include "sim/scenario/read/parsed_file.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

class OwnFolder {
 public:
  OwnFolder() {
    std::string name = (fs::temp_directory_path() / "stepsim-fuzz-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr, "a folder of its own");
    path_ = name;
  }
  ~OwnFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string small_library() { return std::string(source_folder()) + "/tests/errors/library"; }

}  // namespace

std::string file_of(const std::string& name, const std::string& text) {
  static const OwnFolder folder;
  const fs::path path = folder.path() / name;
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

const Library& fuzz_library() {
  static const Library library{.roots = {small_library(), source_folder()},
                               .parsed = std::make_shared<ParsedFiles>()};
  return library;
}

void require(bool holds, const char* what) {
  if (!holds) throw InternalError(what);
}

std::string refusal_of(const std::string& text) {
  try {
    read_text(text);
    return "";
  } catch (const UserError& error) {
    require(!error.diagnostics().empty(), "an error says what is wrong");
    return error.what();
  } catch (const SimulationError& error) {
    return error.what();
  } catch (const IoError& error) {
    return error.what();
  }
}

void use_fuzz_library() { setenv("STEPSIM_LIBRARY", small_library().c_str(), 1); }

}  // namespace stepsim

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  stepsim::use_fuzz_library();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  stepsim::refusal_of(std::string(reinterpret_cast<const char*>(bytes), size));
  return 0;
}
