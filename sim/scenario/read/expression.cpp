// A parser by precedence, and a walk over the tree that it makes.
#include "sim/scenario/read/expression.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {

/// A value, a name, a call, or a sign between operands; `a ? b : c` is a sign of three operands.
struct Expression::Node {
  enum class Kind { value, name, call, sign };
  Kind kind = Kind::value;
  std::string text;  ///< a name, a sign, or a function's name
  int offset = 0;
  Datum value;
  std::vector<Node> operands;
};

namespace {

using Node = Expression::Node;
using Kind = Node::Kind;
using Numbers = std::vector<double>;

constexpr std::size_t kLongest = 1000;  // bytes; the longest of a suite have about a hundred

struct Function {
  std::string_view name;
  std::size_t count;  ///< count of its arguments; kAnyCount: one and more
  double (*value)(const Numbers& arguments);
};

constexpr std::size_t kAnyCount = 0;

constexpr Function kFunctions[] = {
    {"abs", 1, [](const Numbers& of) { return std::abs(of[0]); }},
    {"cbrt", 1, [](const Numbers& of) { return std::cbrt(of[0]); }},
    {"exp", 1, [](const Numbers& of) { return std::exp(of[0]); }},
    {"ln", 1, [](const Numbers& of) { return std::log(of[0]); }},
    {"log", 1, [](const Numbers& of) { return std::log(of[0]); }},
    {"log10", 1, [](const Numbers& of) { return std::log10(of[0]); }},
    {"log2", 1, [](const Numbers& of) { return std::log2(of[0]); }},
    {"max", kAnyCount, [](const Numbers& of) { return *std::ranges::max_element(of); }},
    {"min", kAnyCount, [](const Numbers& of) { return *std::ranges::min_element(of); }},
    {"pow", 2, [](const Numbers& of) { return std::pow(of[0], of[1]); }},
    {"sqrt", 1, [](const Numbers& of) { return std::sqrt(of[0]); }},
    {"sum", kAnyCount,
     [](const Numbers& of) { return std::accumulate(of.begin(), of.end(), 0.0); }},
};

const Function* function_called(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &Function::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

/// A sign between two operands; a higher rank binds more. One that another begins with comes later.
struct Sign {
  std::string_view text;
  int rank;
};
constexpr int kLeastRank = 1, kPower = 8;
constexpr Sign kSigns[] = {{"or", 1}, {"||", 1}, {"and", 2}, {"&&", 2},    {"==", 3}, {"!=", 3},
                           {"<=", 4}, {">=", 4}, {"<", 4},   {">", 4},     {"//", 5}, {"+", 6},
                           {"-", 6},  {"*", 7},  {"/", 7},   {"^", kPower}};

/// What is said of characters that somebody may take for a part of an expression.
constexpr std::pair<char, const char*> kNoSigns[] = {
    {'=', "'=' is no operator, '==' compares"},
    {'\'', "texts stand in double quotes"},
    {'"', "unexpected text"},
    {'{', "its value is neither a number nor a text"}};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) { take(0); }

  Node whole() {
    if (has_ended()) refuse("expression is empty");
    Node all = choice();
    if (!has_ended()) refuse_next();
    return all;
  }

 private:
  bool has_ended() const { return at_ == text_.size(); }
  int offset() const { return static_cast<int>(at_); }
  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  std::string_view word() const {
    const std::string_view all = rest();
    const auto* end = std::ranges::find_if_not(all, is_word);
    return all.substr(0, static_cast<std::size_t>(end - all.begin()));
  }
  const Sign* sign() const {
    for (const Sign& sign : kSigns)
      if (is_word(sign.text[0]) ? word() == sign.text : rest().starts_with(sign.text)) return &sign;
    return nullptr;
  }

  /// Takes so many bytes, and the blanks behind them.
  std::string take(std::size_t size) {
    std::string taken = text_.substr(at_, size);
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_ + size), text_.size());
    return taken;
  }
  bool takes(char c) {
    const bool found = rest().starts_with(c);
    if (found) take(1);
    return found;
  }
  /// `lack` is said where the expression ends instead.
  void expect(char c, const char* lack) {
    if (has_ended()) refuse(lack);
    if (!takes(c)) refuse_next();
  }

  [[noreturn]] void refuse(const std::string& why) const { throw ExpressionError{why, offset()}; }
  [[noreturn]] void refuse_next() const {
    for (const auto& [sign, why] : kNoSigns)
      if (rest().starts_with(sign)) refuse(why);
    if (word().empty()) refuse(fmt::format("unexpected \"{}\"", rest()[0]));
    refuse(fmt::format("unexpected {} \"{}\"", is_digit(rest()[0]) ? "value" : "variable", word()));
  }

  Node choice() {
    Node condition = operation(kLeastRank);
    const int at = offset();
    if (!takes('?')) return condition;
    Node yes = choice();
    expect(':', "if-then-else operator is missing an else clause");
    return {Kind::sign, "?", at, {}, {std::move(condition), std::move(yes), choice()}};
  }

  /// Operands between signs of at least that rank.
  Node operation(int least) {
    Node left = operand();
    for (const Sign* next = sign(); next != nullptr && next->rank >= least; next = sign()) {
      const int at = offset();
      const std::string text = take(next->text.size());
      Node right = operation(next->rank == kPower ? kPower : next->rank + 1);
      left = {Kind::sign, text, at, {}, {std::move(left), std::move(right)}};
    }
    return left;
  }

  Node operand() {
    if (has_ended()) refuse("unexpected end of expression");
    const int at = offset();
    if (takes('(')) {
      Node within = choice();
      expect(')', "missing parenthesis");
      return within;
    }
    if (rest()[0] == '-' || rest()[0] == '+') {
      const std::string sign = take(1);
      return {Kind::sign, sign, at, {}, {operation(kPower)}};
    }
    if (sign() != nullptr) refuse("an operator lacks its left side");
    if (is_digit(rest()[0]) || rest()[0] == '.') return number();
    if (rest()[0] == '"') {
      const std::size_t close = rest().find('"', 1);
      if (close == std::string_view::npos) refuse("a text is not closed");
      return {Kind::value, "", at, take(close + 1).substr(1, close - 1), {}};
    }
    const std::string name = take(word().size());
    if (name.empty()) refuse_next();
    if (takes('(')) return call(name, at);
    if (name == "true" || name == "false") return {Kind::value, name, at, name == "true", {}};
    return {Kind::name, name, at, {}, {}};
  }

  Node number() {
    double value = 0;
    const auto read = std::from_chars(rest().data(), rest().data() + rest().size(), value);
    if (read.ec == std::errc::result_out_of_range) refuse("its value is not finite");
    if (read.ec != std::errc()) refuse_next();
    const int at = offset();
    take(static_cast<std::size_t>(read.ptr - rest().data()));
    return {Kind::value, "", at, value, {}};
  }

  Node call(const std::string& name, int at) {
    const Function* function = function_called(name);
    if (function == nullptr)
      throw ExpressionError{
          fmt::format("no function {}, {}", quoted(name), did_you_mean(name, function_names())),
          at};
    std::vector<Node> arguments;
    while (!takes(')')) {
      if (!arguments.empty()) expect(',', "missing parenthesis");
      arguments.push_back(choice());
    }
    const std::size_t count = arguments.size();
    if (count == 0) throw ExpressionError{name + " of nothing", at};
    if (function->count != kAnyCount && function->count != count)
      throw ExpressionError{
          fmt::format("{} takes {} numbers, not {}", name, function->count, count), at};
    return {Kind::call, name, at, {}, std::move(arguments)};
  }

  const std::string& text_;
  std::size_t at_ = 0;  ///< offset of what comes next, which is no blank
};

/// "the number 4", "the text 'MPT-7b'".
std::string title_of(const Datum& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "the text " + quoted(*text);
  const bool is_condition = std::holds_alternative<bool>(value);
  return (is_condition ? "a condition, " : "the number ") + text_of(value);
}

template <class T>
bool compared(const T& a, std::string_view sign, const T& b) {
  return sign == "<" ? a < b : sign == ">" ? a > b : sign == "<=" ? a <= b : a >= b;
}

double calculated(double a, char sign, double b) {
  return sign == '+'   ? a + b
         : sign == '-' ? a - b
         : sign == '*' ? a * b
         : sign == '/' ? a / b
                       : std::pow(a, b);
}

/// The value of an expression whose names have these values.
class Evaluation {
 public:
  explicit Evaluation(const std::map<std::string, Datum>& values) : values_(values) {}

  Datum value(const Node& node) const {
    switch (node.kind) {
      case Kind::value:
        return node.value;
      case Kind::name:
        return values_.at(node.text);
      case Kind::call:
        return called(node);
      case Kind::sign:
        return applied(node);
    }
    return {};
  }

 private:
  double called(const Node& node) const {
    const Numbers arguments = numbers(node);
    const double value = function_called(node.text)->value(arguments);
    if (std::isfinite(value)) return value;
    throw ExpressionError{
        fmt::format("{}({}) is no finite number", node.text, fmt::join(arguments, ", ")),
        node.offset};
  }

  Datum applied(const Node& node) const {
    const std::string& sign = node.text;
    const auto& operands = node.operands;
    if (sign == "?") return value(operands[condition(operands[0]) ? 1 : 2]);
    if (sign == "and" || sign == "&&") return condition(operands[0]) && condition(operands[1]);
    if (sign == "or" || sign == "||") return condition(operands[0]) || condition(operands[1]);
    if (operands.size() == 1) return numbers(node)[0] * (sign == "-" ? -1 : 1);
    const Datum left = value(operands[0]), right = value(operands[1]);
    if (sign == "//") return text_of(left) + text_of(right);
    if (sign == "==" || sign == "!=") return (left == right) == (sign == "==");
    const bool compares = sign[0] == '<' || sign[0] == '>';
    const auto *a = std::get_if<std::string>(&left), *b = std::get_if<std::string>(&right);
    if (compares && a != nullptr && b != nullptr) return compared(*a, sign, *b);
    const Numbers of = numbers(node);
    if (compares) return compared(of[0], sign, of[1]);
    if (sign == "/" && of[1] == 0) throw ExpressionError{"division by zero", node.offset};
    const double result = calculated(of[0], sign[0], of[1]);
    if (std::isfinite(result)) return result;
    throw ExpressionError{"its value is not finite", node.offset};
  }

  bool condition(const Node& node) const {
    const Datum found = value(node);
    if (const bool* flag = std::get_if<bool>(&found)) return *flag;
    const std::string what = node.kind == Kind::name ? quoted(node.text) : "this";
    throw ExpressionError{
        fmt::format("{} is {} here, where a condition is wanted", what, title_of(found)),
        node.offset};
  }

  /// The operands of a function, or of a sign that calculates or compares.
  Numbers numbers(const Node& node) const {
    Numbers all;
    for (const Node& operand : node.operands) {
      const Datum found = value(operand);
      const double* number = std::get_if<double>(&found);
      if (number == nullptr) refuse(node, operand, found);
      all.push_back(*number);
    }
    return all;
  }

  [[noreturn]] void refuse(const Node& node, const Node& operand, const Datum& found) const {
    const auto* text = std::get_if<std::string>(&found);
    const std::string shown = text != nullptr ? '"' + *text + '"' : text_of(found);
    if (node.text == "^") throw ExpressionError{quoted(shown) + " is no number", node.offset};
    if (node.text == "/")
      throw ExpressionError{quoted(shown) + " is no number to divide", node.offset};
    if (text == nullptr)
      throw ExpressionError{"a condition is no number to calculate or compare with", node.offset};
    if (operand.kind == Kind::name)
      throw ExpressionError{fmt::format("{} is {} here, where a number is wanted",
                                        quoted(operand.text), title_of(found)),
                            operand.offset};
    std::string why = shown + " is a text, where a number is wanted";
    for (const Node& other : node.operands)
      if (other.kind == Kind::name)
        why += fmt::format(": {} is {} here", quoted(other.text), title_of(value(other)));
    throw ExpressionError{why, operand.offset};
  }

  const std::map<std::string, Datum>& values_;
};

void add_names(const Node& node, std::map<std::string, int>& names) {
  if (node.kind == Kind::name) names.emplace(node.text, node.offset);
  for (const Node& operand : node.operands) add_names(operand, names);
}

}  // namespace

Datum datum_of(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto read = std::from_chars(begin, end, number);
  const bool whole = read.ec == std::errc() && read.ptr == end && std::isfinite(number);
  return whole ? Datum(number) : Datum(text);
}

std::string text_of(const Datum& datum) {
  if (const auto* text = std::get_if<std::string>(&datum)) return *text;
  if (const auto* flag = std::get_if<bool>(&datum)) return *flag ? "true" : "false";
  const double number = std::get<double>(datum);
  const bool whole = std::trunc(number) == number && std::abs(number) < 0x1p53;
  return whole ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& function : kFunctions) names.emplace_back(function.name);
  return names;
}

Expression::Expression(const std::string& text) {
  if (text.size() > kLongest)
    throw ExpressionError{fmt::format("longer than {} characters", kLongest), 0};
  root_ = std::make_shared<const Node>(Parser(text).whole());
  add_names(*root_, names_);
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  for (const auto& [name, ignored] : names_) names.push_back(name);
  return names;
}

Datum Expression::operator()(const std::function<Datum(const std::string& name)>& value_of) const {
  std::map<std::string, Datum> values;
  for (const auto& [name, ignored] : names_) values.emplace(name, value_of(name));
  return Evaluation(values).value(*root_);
}

}  // namespace stepsim
