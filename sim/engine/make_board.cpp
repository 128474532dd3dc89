// Chooses the board. SimGrid comes with libraries that take most of a start, so that it is a
// module, loaded by the first run that asks for it.
#include <array>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/engine/exact_board.hpp"
#include "sim/engine/simgrid/module.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "libstepsim_simgrid.so";

/// Where the module may be: beside an installed program, or where it was built.
fs::path module_file() {
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::array places{here.parent_path() / "lib" / "stepsim" / kModule, here / kModule};
  for (const fs::path& place : places) {
    if (fs::exists(place, ignored)) return place;
  }
  return fs::path(STEPSIM_MODULES) / kModule;
}

MakeSimGridBoard load() {
  const fs::path file = module_file();
  // For good: SimGrid has threads and signals of its own, and does not survive being taken out.
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) throw IoError(fmt::format("SimGrid cannot be loaded: {}", dlerror()));
  void* function = dlsym(module, kMakeSimGridBoard);
  if (function == nullptr)
    throw IoError(
        fmt::format("{}: this module is another version's: {}", file.string(), dlerror()));
  return reinterpret_cast<MakeSimGridBoard>(function);
}

}  // namespace

std::unique_ptr<Board> make_board(EngineKind kind, const Folding& folding, BoardUser& user) {
  if (kind == EngineKind::exact) return std::make_unique<ExactBoard>(folding, user);
  static const MakeSimGridBoard make = load();
  return std::unique_ptr<Board>(make(folding, user));
}

}  // namespace stepsim
