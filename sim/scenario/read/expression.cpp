// muparserx behind a value.
#include "sim/scenario/read/expression.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <muparserx/mpParser.h>

#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kLongest = 1000;  // bytes; the longest of a suite have about a hundred

/// The library's sentence without what our messages have anyway: the position, the full stop.
std::string message_of(const mup::ParserError& error) {
  std::string text = error.GetMsg();
  // Its own checks of what it has put together; a sign before which nothing stands breaks them.
  if (text.find("ssertion") != std::string::npos) return "an operator lacks its left side";
  text = text.substr(0, text.find(" found at position"));
  text = text.substr(0, text.find(" at position"));
  while (text.ends_with('.') || text.ends_with('!')) text.pop_back();
  if (!text.empty())
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

int offset_of(const mup::ParserError& error, const std::string& text) {
  return std::clamp(error.GetPos(), 0, static_cast<int>(text.size()));
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// `and` and `or` in signs of the same length: the library's own would take the beginning of a
/// column called `organisation` for one. Texts in quotes stay as they are.
std::string with_signs(std::string text) {
  bool quoted = false;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '"') quoted = !quoted;
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    if (!quoted && word == "and") text.replace(i, 3, "&& ");
    if (!quoted && word == "or") text.replace(i, 2, "||");
    i = std::max(end, i + 1);
  }
  return text;
}

/// A result of the library as a value of ours. Throws ExpressionError when it is none.
Datum datum_of(const mup::IValue& value) {
  switch (value.GetType()) {
    case 's':
      return value.GetString();
    case 'b':
      return value.GetBool();
    case 'i':
    case 'f':
      if (std::isfinite(value.GetFloat())) return value.GetFloat();
      throw ExpressionError{"its value is not finite", 0};
    default:
      throw ExpressionError{"its value is neither a number nor a text", 0};
  }
}

/// `//` joins texts and numbers alike, after sums; the library's own takes texts only.
class Join : public mup::IOprtBin {
 public:
  Join() : IOprtBin("//", mup::prADD_SUB - 1, mup::oaLEFT) {}
  void Eval(mup::ptr_val_type& result, const mup::ptr_val_type* arguments, int) override {
    *result = text_of(datum_of(*arguments[0])) + text_of(datum_of(*arguments[1]));
  }
  const mup::char_type* GetDesc() const override { return "joins texts and numbers"; }
  mup::IToken* Clone() const override { return new Join(*this); }
};

/// The library's own gives infinity, which compares like any number.
class Divide : public mup::IOprtBin {
 public:
  Divide() : IOprtBin("/", mup::prMUL_DIV, mup::oaLEFT) {}
  void Eval(mup::ptr_val_type& result, const mup::ptr_val_type* arguments, int) override {
    const double divisor = number_of(*arguments[1]);
    if (divisor == 0) throw ExpressionError{"division by zero", std::max(GetExprPos(), 0)};
    *result = number_of(*arguments[0]) / divisor;
  }
  const mup::char_type* GetDesc() const override { return "divides"; }
  mup::IToken* Clone() const override { return new Divide(*this); }

 private:
  double number_of(const mup::IValue& value) const {
    if (value.IsScalar()) return value.GetFloat();
    throw ExpressionError{fmt::format("{} is no number to divide", quoted(value.ToString())),
                          std::max(GetExprPos(), 0)};
  }
};

/// A function of numbers. Of its own the library has some that take a text for 0, or read memory
/// that nobody wrote.
struct Function {
  const char* name;
  int count;  ///< of its arguments; kAnyCount: one and more
  double (*value)(const std::vector<double>& arguments);
};

constexpr int kAnyCount = -1;
using Numbers = std::vector<double>;

constexpr Function kFunctions[] = {
    {"abs", 1, [](const Numbers& of) { return std::abs(of[0]); }},
    {"cbrt", 1, [](const Numbers& of) { return std::cbrt(of[0]); }},
    {"exp", 1, [](const Numbers& of) { return std::exp(of[0]); }},
    {"ln", 1, [](const Numbers& of) { return std::log(of[0]); }},
    {"log", 1, [](const Numbers& of) { return std::log(of[0]); }},
    {"log10", 1, [](const Numbers& of) { return std::log10(of[0]); }},
    {"log2", 1, [](const Numbers& of) { return std::log2(of[0]); }},
    {"max", kAnyCount, [](const Numbers& of) { return *std::max_element(of.begin(), of.end()); }},
    {"min", kAnyCount, [](const Numbers& of) { return *std::min_element(of.begin(), of.end()); }},
    {"pow", 2, [](const Numbers& of) { return std::pow(of[0], of[1]); }},
    {"sqrt", 1, [](const Numbers& of) { return std::sqrt(of[0]); }},
    {"sum", kAnyCount,
     [](const Numbers& of) { return std::accumulate(of.begin(), of.end(), 0.0); }},
};

bool is_function(const std::string& name) {
  return std::any_of(std::begin(kFunctions), std::end(kFunctions),
                     [&](const Function& known) { return name == known.name; });
}

class Call : public mup::ICallback {
 public:
  explicit Call(const Function& function)
      : ICallback(mup::cmFUNC, function.name, function.count), function_(&function) {}
  void Eval(mup::ptr_val_type& result, const mup::ptr_val_type* arguments, int count) override {
    const int at = std::max(GetExprPos(), 0);
    if (count < 1) throw ExpressionError{fmt::format("{} of nothing", function_->name), at};
    Numbers numbers;
    for (int i = 0; i < count; ++i) {
      const mup::IValue& value = *arguments[i];
      if (!value.IsScalar())
        throw mup::ParserError(mup::ErrorContext(mup::ecTYPE_CONFLICT_FUN, at, function_->name,
                                                 value.GetType(), 'f', i + 1));
      numbers.push_back(value.GetFloat());
    }
    const double value = function_->value(numbers);
    if (!std::isfinite(value))
      throw ExpressionError{
          fmt::format("{}({}) is no finite number", function_->name, fmt::join(numbers, ", ")), at};
    *result = value;
  }
  const mup::char_type* GetDesc() const override { return "a function of numbers"; }
  mup::IToken* Clone() const override { return new Call(*this); }

 private:
  const Function* function_;
};

/// A word before a parenthesis that is no function. The library would take it for a column, and be
/// surprised by the parenthesis.
void refuse_unknown_functions(const std::string& text) {
  bool quoted = false;
  std::size_t end = 0;
  for (std::size_t i = 0; i < text.size(); i = std::max(end, i + 1)) {
    if (text[i] == '"') quoted = !quoted;
    end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    const std::size_t next = text.find_first_not_of(' ', end);
    const bool calls = next != std::string::npos && text[next] == '(' && !word.empty() &&
                       std::isdigit(static_cast<unsigned char>(word[0])) == 0;
    if (!calls || quoted || word == "and" || word == "or" || is_function(word)) continue;
    throw ExpressionError{fmt::format("no function {}, {}", stepsim::quoted(word),
                                      did_you_mean(word, function_names())),
                          static_cast<int>(i)};
  }
}

using Values = std::map<std::string, mup::Value>;

/// A word, or a text in quotes, of an expression.
struct Operand {
  std::string text;
  int offset = 0;
  bool is_quoted() const { return text.starts_with('"'); }
};

bool is_between(char c) { return c == ' ' || c == '(' || c == ')'; }

Operand operand_before(const std::string& text, std::size_t end) {
  while (end > 0 && is_between(text[end - 1])) --end;
  std::size_t begin = end;
  if (end > 1 && text[end - 1] == '"') {
    begin = text.rfind('"', end - 2);
    if (begin == std::string::npos) begin = end - 1;
  } else {
    while (begin > 0 && is_word(text[begin - 1])) --begin;
  }
  return {text.substr(begin, end - begin), static_cast<int>(begin)};
}

Operand operand_after(const std::string& text, std::size_t begin) {
  while (begin < text.size() && is_between(text[begin])) ++begin;
  std::size_t end = begin;
  if (begin < text.size() && text[begin] == '"') {
    end = std::min(text.find('"', begin + 1), text.size() - 1) + 1;
  } else {
    while (end < text.size() && is_word(text[end])) ++end;
  }
  return {text.substr(begin, end - begin), static_cast<int>(begin)};
}

/// Words and texts from `begin` on, up to `end`.
std::vector<Operand> operands_between(const std::string& text, std::size_t begin, std::size_t end) {
  std::vector<Operand> all;
  for (std::size_t at = begin; at < end;) {
    const Operand next = operand_after(text, at);
    if (!next.text.empty() && static_cast<std::size_t>(next.offset) < end) all.push_back(next);
    at = static_cast<std::size_t>(next.offset) + std::max<std::size_t>(next.text.size(), 1);
  }
  return all;
}

/// Of all calls of that function, which are few.
std::vector<Operand> arguments_of(const std::string& function, const std::string& text) {
  std::vector<Operand> all;
  for (std::size_t at = text.find(function); at != std::string::npos;
       at = text.find(function, at + 1)) {
    const std::size_t open = text.find_first_not_of(' ', at + function.size());
    const bool is_whole = at == 0 || !is_word(text[at - 1]);
    if (!is_whole || open == std::string::npos || text[open] != '(') continue;
    std::size_t close = open;
    int depth = 0;
    do {
      depth += text[close] == '(' ? 1 : text[close] == ')' ? -1 : 0;
      ++close;
    } while (depth > 0 && close < text.size());
    const auto arguments = operands_between(text, open, close);
    all.insert(all.end(), arguments.begin(), arguments.end());
  }
  return all;
}

/// What the library's complaint about types is about: both sides of an operator, the arguments of a
/// function, or all there is.
std::vector<Operand> operands_of(const mup::ParserError& error, const std::string& text) {
  if (is_function(error.GetToken())) return arguments_of(error.GetToken(), text);
  if (error.GetCode() == mup::ecEVAL && error.GetPos() >= 0) {
    const auto at = static_cast<std::size_t>(offset_of(error, text));
    const std::string& sign = error.GetToken();
    if (!sign.empty() && !is_word(sign.front()))
      return {operand_before(text, at), operand_after(text, at + sign.size())};
  }
  return operands_between(text, 0, text.size());
}

bool is_about_types(const mup::ParserError& error) {
  const std::string text = error.GetMsg();
  return error.GetCode() == mup::ecTYPE_CONFLICT || text.find("of type") != std::string::npos ||
         text.find("Invalid argument type") != std::string::npos;
}

/// `the number 4`, of a name.
std::string value_text(const mup::Value& value) {
  if (value.IsString()) return "the text " + quoted(value.GetString());
  const bool is_condition = value.GetType() == 'b';
  return (is_condition ? "a condition, " : "the number ") +
         text_of(is_condition ? Datum(value.GetBool()) : Datum(value.GetFloat()));
}

/// Which word is a text and which a number, instead of the library's letters for types.
ExpressionError type_error(const mup::ParserError& error, const std::string& text,
                           const Values& values) {
  const std::vector<Operand> operands = operands_of(error, text);
  const bool wants_condition = error.GetCode() == mup::ecTYPE_CONFLICT;
  for (const Operand& one : operands) {
    const auto value = values.find(one.text);
    if (value == values.end()) continue;
    if (wants_condition && value->second.GetType() != 'b')
      return {fmt::format("{} is {} here, where a condition is wanted", quoted(one.text),
                          value_text(value->second)),
              one.offset};
    if (value->second.IsString())
      return {fmt::format("{} is {} here, where a number is wanted", quoted(one.text),
                          value_text(value->second)),
              one.offset};
  }
  for (const Operand& one : operands) {
    if (!one.is_quoted()) continue;
    std::string why = one.text + " is a text, where a number is wanted";
    for (const Operand& other : operands)
      if (const auto value = values.find(other.text); value != values.end())
        why += fmt::format(": {} is {} here", quoted(other.text), value_text(value->second));
    return {why, one.offset};
  }
  return {"a condition is no number to calculate or compare with", offset_of(error, text)};
}

/// The library's own take texts for numbers, and have values that compare like any number.
class Power : public mup::IOprtBin {
 public:
  Power() : IOprtBin("^", mup::prPOW, mup::oaRIGHT) {}
  void Eval(mup::ptr_val_type& result, const mup::ptr_val_type* arguments, int) override {
    const int at = std::max(GetExprPos(), 0);
    for (int i = 0; i < 2; ++i)
      if (!arguments[i]->IsScalar())
        throw ExpressionError{fmt::format("{} is no number", quoted(arguments[i]->ToString())), at};
    const double power = std::pow(arguments[0]->GetFloat(), arguments[1]->GetFloat());
    if (!std::isfinite(power)) throw ExpressionError{"its value is not finite", at};
    *result = power;
  }
  const mup::char_type* GetDesc() const override { return "raises to a power"; }
  mup::IToken* Clone() const override { return new Power(*this); }
};

}  // namespace

struct Expression::Parser {
  Parser() : engine(mup::pckCOMMON | mup::pckNON_COMPLEX | mup::pckSTRING) {
    // A column may be called so.
    engine.RemoveConst("e");
    engine.RemoveConst("pi");
    for (const char* assigns : {"=", "+=", "-=", "*=", "/="}) {
      if (engine.IsOprtDefined(assigns)) engine.RemoveOprt(assigns);
    }
    for (const char* word : {"/", "//", "^", "and", "or"}) {
      if (engine.IsOprtDefined(word)) engine.RemoveOprt(word);
    }
    // Of bits: shifts by less than nothing are whatever the processor makes of them.
    for (const char* sign : {"&", "|", "<<", ">>"}) {
      if (engine.IsOprtDefined(sign)) engine.RemoveOprt(sign);
    }
    // The factorial of 1e9 takes that many multiplications.
    if (engine.IsPostfixOprtDefined("!")) engine.RemovePostfixOprt("!");
    // A whole number of 64 bits is not what a number became.
    for (const char* cast : {"(int)", "(float)"}) {
      if (engine.IsInfixOprtDefined(cast)) engine.RemoveInfixOprt(cast);
    }
    engine.ClearFun();
    for (const Function& function : kFunctions) engine.DefineFun(new Call(function));
    engine.DefineOprt(new Join);
    engine.DefineOprt(new Divide);
    engine.DefineOprt(new Power);
  }
  mup::ParserX engine;
  Values values;  ///< the engine points at them
};

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

Expression::Expression(const std::string& text) : text_(text), parser_(std::make_unique<Parser>()) {
  if (text.size() > kLongest)
    throw ExpressionError{fmt::format("longer than {} characters", kLongest), 0};
  refuse_unknown_functions(text);
  mup::ParserX& engine = parser_->engine;
  try {
    engine.SetExpr(with_signs(text));
    for (const auto& [name, ignored] : engine.GetExprVar()) names_.push_back(name);
    std::sort(names_.begin(), names_.end());
    for (const std::string& name : names_)
      engine.DefineVar(name, mup::Variable(&parser_->values[name]));
  } catch (const mup::ParserError& error) {
    const int offset = stepsim::offset_of(error, text);
    const std::string& token = error.GetToken();
    const bool assigns = token.starts_with('=') && !token.starts_with("==");
    throw ExpressionError{assigns                   ? "'=' is no operator, '==' compares"
                          : token.starts_with('\'') ? "texts stand in double quotes"
                                                    : message_of(error),
                          offset};
  }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

int Expression::offset_of(const std::string& name) const {
  for (std::size_t at = text_.find(name); at != std::string::npos; at = text_.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text_[at - 1])) && (end == text_.size() || !is_word(text_[end])))
      return static_cast<int>(at);
  }
  return 0;
}

Datum Expression::operator()(const std::function<Datum(const std::string& name)>& value_of) const {
  for (const std::string& name : names_)
    std::visit([&](const auto& value) { parser_->values[name] = value; }, value_of(name));
  try {
    return datum_of(parser_->engine.Eval());
  } catch (const mup::ParserError& error) {
    if (is_about_types(error)) throw type_error(error, text_, parser_->values);
    throw ExpressionError{message_of(error), stepsim::offset_of(error, text_)};
  }
}

}  // namespace stepsim
