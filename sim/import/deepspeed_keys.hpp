// What is known of DeepSpeed's keys beside those that are read.
#pragma once

#include "sim/import/config/config.hpp"

namespace stepsim {

/// deepspeedai/DeepSpeed deepspeed/runtime/config.py and deepspeed/runtime/zero/config.py.
const KnownKeys& deepspeed_keys();

}  // namespace stepsim
