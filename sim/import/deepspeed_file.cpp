// DeepSpeed's file beside the one that names it.
#include <fmt/format.h>

#include "sim/import/config/config.hpp"
#include "sim/import/deepspeed.hpp"

namespace stepsim {

JsonTree deepspeed_file(Config& config, const std::string& named) {
  const std::string path = file_near(config.folder(), named);
  if (path.empty())
    config.report("deepspeed",
                  fmt::format("deepspeed: there is no file {} here", quoted_path(named)),
                  "put DeepSpeed's file beside this one");
  config.problems().throw_if_any();
  return Config(path, "a DeepSpeed configuration").tree();
}

}  // namespace stepsim
