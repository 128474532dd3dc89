// muparserx behind a value.
#include "sim/scenario/expression.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <muparserx/mpParser.h>

#include "sim/core/source.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kLongest = 1000;  // bytes; the longest of a suite have about a hundred

/// The library's sentence without what our messages have anyway: the position, the full stop.
std::string message_of(const mup::ParserError& error) {
  std::string text = error.GetMsg();
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

/// What the library's complaint about types is about: both sides of an operator, or all there is.
std::vector<Operand> operands_of(const mup::ParserError& error, const std::string& text) {
  if (error.GetCode() == mup::ecEVAL && error.GetPos() >= 0) {
    const auto at = static_cast<std::size_t>(offset_of(error, text));
    const std::string& sign = error.GetToken();
    if (!sign.empty() && !is_word(sign.front()))
      return {operand_before(text, at), operand_after(text, at + sign.size())};
  }
  std::vector<Operand> all;
  for (std::size_t at = 0; at < text.size();) {
    const Operand next = operand_after(text, at);
    if (!next.text.empty()) all.push_back(next);
    at = static_cast<std::size_t>(next.offset) + std::max<std::size_t>(next.text.size(), 1);
  }
  return all;
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

Expression::Expression(const std::string& text) : text_(text), parser_(std::make_unique<Parser>()) {
  if (text.size() > kLongest)
    throw ExpressionError{fmt::format("longer than {} characters", kLongest), 0};
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
