// Reads the file of measurements, replaces it whole, and checks that it is of this device.
#include "calib/harness/store.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/core/error.hpp"

namespace stepsim::calib {

void replace_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  errno = 0;  // errno may keep its value when a stream fails
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = errno != 0 ? std::strerror(errno) : "the disk took only a part of it";
    std::remove(temporary.c_str());
    throw IoError(fmt::format("cannot write {}: {}", path, why));
  }
}

std::optional<Measurements> load_measurements(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return {};
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || in.bad()) throw IoError(fmt::format("cannot read {}", path));
  return parse_measurements(text.str(), path);
}

void check_same_device(const Measurements& earlier, const DeviceFacts& device,
                       const std::string& path) {
  if (earlier.device.name == device.name && earlier.device.sms == device.sms) return;
  throw UserError(fmt::format(
      "{} holds measurements of {} with {} SMs, this is {} with {}: name another file with -o",
      path, earlier.device.name, earlier.device.sms, device.name, device.sms));
}

}  // namespace stepsim::calib
