// Small expressions over named values: `gpus / 8`, `ckpt == "True" ? "full" : "none"`.
//
// The language is muparserx's (https://beltoforion.de/en/muparserx): numbers, texts in double
// quotes, + - * / ^, comparisons, `and` and `or`, `condition ? a : b`, `//` to join texts and
// numbers. The functions are ours, of numbers alone; nothing can be assigned. The only header whose
// .cpp sees the library.
#pragma once

#include <functional>
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
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  /// What it reads, in alphabetical order.
  const std::vector<std::string>& names() const { return names_; }
  /// Where that name stands in the text.
  int offset_of(const std::string& name) const;

  /// Its value, given those of its names. Throws ExpressionError when it has none: a text that is
  /// multiplied, a division by zero.
  Datum operator()(const std::function<Datum(const std::string& name)>& value_of) const;

 private:
  struct Parser;
  std::string text_;
  std::vector<std::string> names_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace stepsim
