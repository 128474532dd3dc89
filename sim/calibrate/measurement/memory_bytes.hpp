// What each kernel that moves bytes has to read and write.
#pragma once

#include <cstdint>

#include "sim/calibrate/measurement/point_words.hpp"

namespace stepsim {

/// Compulsory reads and writes of `rows` x `columns` elements of `dtype`:
///   copy           y = x                                  read 1, write 1 tensor
///   add            z = x + y                              read 2, write 1
///   sum            the total, by blocks                   read 1
///   norm           layer norm of each row                 read 1, write 1
///   softmax        of each row                            read 1, write 1
///   dropout        y = x m / (1 - p), and m               read 1, write 1 and a byte an element
///   cross_entropy  log of the sum of exponentials a row   read 1, write an fp32 a row
///   adam           fp32 parameter, gradient, two moments  read 4, write 3
///   relu           y = max(x, 0)                          read 1, write 1
///   squared_error  d = x - y, and the sum of d^2          read 2, write 1
constexpr std::int64_t memory_bytes(MemoryOp op, Precision dtype, std::int64_t rows,
                                    std::int64_t columns) {
  const std::int64_t elements = rows * columns, tensor = elements * element_bytes(dtype);
  switch (op) {
    case MemoryOp::copy:
    case MemoryOp::norm:
    case MemoryOp::softmax:
    case MemoryOp::relu:
      return 2 * tensor;
    case MemoryOp::add:
    case MemoryOp::squared_error:
      return 3 * tensor;
    case MemoryOp::sum:
      return tensor;
    case MemoryOp::dropout:
      return 2 * tensor + elements;
    case MemoryOp::cross_entropy:
      return tensor + 4 * rows;
    case MemoryOp::adam:
      return 7 * tensor;
  }
  return 0;
}

}  // namespace stepsim
