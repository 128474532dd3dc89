// dlopen, and where modules are.
#include "sim/core/system/module.hpp"

#include <filesystem>
#include <functional>
#include <set>

#include <dlfcn.h>
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/system/installed.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

fs::path file_of(const std::string& name) {
  const std::string file = "libstepsim_" + name + ".so";
  const auto prefix = installed_prefix();
  return (prefix ? *prefix / "lib" / "stepsim" : fs::path(STEPSIM_MODULES)) / file;
}

std::set<std::string, std::less<>>& loaded() {
  static std::set<std::string, std::less<>> names;
  return names;
}

}  // namespace

bool has_module(const std::string& name) {
  std::error_code ignored;
  return fs::exists(file_of(name), ignored);
}

bool is_module_loaded(const std::string& name) { return loaded().contains(name); }

void* load_from_module(const std::string& name, const char* function, bool shares_names) {
  const fs::path file = file_of(name);
  // For good: libraries have threads and signals of their own, and do not survive being taken out.
  const int how = RTLD_NOW | RTLD_NODELETE | (shares_names ? RTLD_GLOBAL : RTLD_LOCAL);
  void* module = dlopen(file.c_str(), how);
  if (module == nullptr) throw IoError(fmt::format("a part of stepsim is missing: {}", dlerror()));
  loaded().insert(name);
  void* address = dlsym(module, function);
  if (address == nullptr)
    throw IoError(fmt::format("a part of stepsim is another version's: {}", dlerror()));
  return address;
}

}  // namespace stepsim
