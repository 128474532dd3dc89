// Small expressions over named values: `gpus / 8`, `ckpt == "True" ? "full" : "none"`.
//
// From what binds least to what binds most: `condition ? a : b`, `or`, `and`, == and !=, < <= > >=,
// `//` (joins texts and numbers), + and -, * and /, signs, ^ (from the right). Operands are
// numbers, texts in double quotes, names, and calls of functions of numbers. `||` and `&&` are
// `or` and `and`. Nothing can be assigned.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace stepsim {

using Datum = std::variant<double, bool, std::string>;

/// The number that the text is, whole and finite; else the text.
Datum datum_of(const std::string& text);
/// 8, 0.25, true; texts as they are.
std::string text_of(const Datum& datum);

/// The functions that an expression can call.
std::vector<std::string> function_names();

/// Why an expression does not parse, or has no value.
struct ExpressionError {
  std::string message;  ///< "unexpected end of expression"
  int offset = 0;       ///< bytes from its beginning
};

class Expression {
 public:
  /// Throws ExpressionError when it does not parse.
  explicit Expression(const std::string& text);

  /// The names that the expression reads, in alphabetical order.
  std::vector<std::string> names() const;
  /// Where the expression first reads that name. REQUIRES: it does.
  int offset_of(const std::string& name) const { return names_.at(name); }

  /// The value, given those of the names. Throws ExpressionError when it has none: a text that is
  /// multiplied, a division by zero.
  Datum operator()(const std::function<Datum(const std::string& name)>& value_of) const;

  struct Node;

 private:
  std::map<std::string, int> names_;  ///< names, and where each is read first
  std::shared_ptr<const Node> root_;
};

}  // namespace stepsim
