// Expressions over named values: what they mean, and what is no expression.
#include "sim/scenario/read/expression.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

const std::map<std::string, Datum> kRow{{"gpus", 16.0},   {"tp", 4.0}, {"model", "MPT-7b"},
                                        {"ckpt", "True"}, {"e", 2.5},  {"blank", ""}};

std::string value_of(const std::string& text) {
  return text_of(Expression(text)([](const std::string& name) { return kRow.at(name); }));
}

std::string error_of(const std::string& text) {
  try {
    return "is " + value_of(text);
  } catch (const ExpressionError& error) {
    return error.message;
  }
}

}  // namespace

TEST_CASE("numbers, texts and conditions have the values that they look like") {
  CHECK(value_of("gpus / 8") == "2");
  CHECK(value_of("gpus / 64") == "0.25");
  CHECK(value_of("gpus * 1e6") == "16000000");
  CHECK(value_of("model") == "MPT-7b");
  CHECK(value_of("model // \", \" // gpus + 1 // \" GPUs\"") == "MPT-7b, 17 GPUs");
  CHECK(value_of("ckpt == \"True\" and tp > 1") == "true");
  CHECK(value_of("ckpt == \"False\" or tp > 8") == "false");
  CHECK(value_of("tp > 1 ? \"1f1b\" : 0") == "1f1b");
  CHECK(value_of("tp > 8 ? \"1f1b\" : 0") == "0");
  CHECK(value_of("e * min(tp, 3)") == "7.5");
}

TEST_CASE("a column may begin or end with a word that is an operator") {
  const auto value = [](const std::string& text) {
    return text_of(Expression(text)(
        [](const std::string& name) { return name == "android" ? Datum(3.0) : Datum("x and y"); }));
  };
  CHECK(value("organisation // \"!\"") == "x and y!");
  CHECK(value("organisation == \"x and y\" and android > 2") == "true");
  CHECK(value("1 < 2 or organisation == \"or\"") == "true");
  CHECK(value("floor == \"x and y\"or android == 4") == "true");
  CHECK(value("android + android") == "6");
}

TEST_CASE("an expression names what it reads, and where") {
  const Expression one("tp * gpus + tp");
  CHECK(one.names() == std::vector<std::string>{"gpus", "tp"});
  CHECK(one.offset_of("gpus") == 5);
  CHECK(Expression("gpus_per_node + gpus").offset_of("gpus") == 16);
}

TEST_CASE("an expression is evaluated anew for each row, whatever types its rows have") {
  const Expression one("x == 1 ? \"one\" : \"other\"");
  CHECK(text_of(one([](const std::string&) { return Datum(1.0); })) == "one");
  CHECK(text_of(one([](const std::string&) { return Datum("1"); })) == "other");
  CHECK(text_of(one([](const std::string&) { return Datum(1.0); })) == "one");
}

TEST_CASE("what has no value says why") {
  CHECK(error_of("gpus *") == "unexpected end of expression");
  CHECK(error_of("tp = 4") == "'=' is no operator, '==' compares");
  CHECK(error_of("'text'") == "texts stand in double quotes");
  CHECK(error_of("gpus / 0") == "division by zero");
  CHECK(error_of("1 / (tp - 4) > 1") == "division by zero");
  CHECK(error_of("1 / \"8\"") == "'\"8\"' is no number to divide");
  CHECK(error_of("10 ^ 400") == "its value is not finite");
  CHECK(error_of("0 ^ (0 - 1) > 1") == "its value is not finite");
  CHECK(error_of("tp ^ model > 1") == "'\"MPT-7b\"' is no number");
  CHECK(value_of("2 ^ 3 ^ 2") == "512");
  CHECK(value_of("tp ^ 0.5 == 2 and -2 ^ 2 < 0") == "true");
  CHECK(value_of("tp > 4 ? 1 / (tp - 4) : 0") == "0");
  CHECK(value_of("tp > 4 and 1 / (tp - 4) > 1") == "false");
  CHECK(value_of("100 / 10 / 2 * 3") == "15");
  CHECK(error_of("sqrt(0 - 1) > 0") == "sqrt(-1) is no finite number");
  CHECK(error_of("log(0)") == "log(0) is no finite number");
  CHECK(error_of("max()") == "max of nothing");
  CHECK(error_of("and tp") == "an operator lacks its left side");
  CHECK(error_of("|| tp > 1") == "an operator lacks its left side");
  CHECK(error_of("{1, 2}") == "its value is neither a number nor a text");
  CHECK(error_of("blank * 2").find("is the text") != std::string::npos);
  CHECK(error_of("") == "expression is empty");
}

TEST_CASE("texts where numbers are wanted are named, and the other way round") {
  CHECK(error_of("tp > 2 and model < 2") ==
        "'model' is the text 'MPT-7b' here, where a number is wanted");
  CHECK(error_of("gpus > tp * model") ==
        "'model' is the text 'MPT-7b' here, where a number is wanted");
  CHECK(error_of("-model") == "'model' is the text 'MPT-7b' here, where a number is wanted");
  CHECK(error_of("max(tp, model)") ==
        "'model' is the text 'MPT-7b' here, where a number is wanted");
  CHECK(error_of("model == \"x\" or (tp) < \"a b\"") ==
        "\"a b\" is a text, where a number is wanted: 'tp' is the number 4 here");
  CHECK(error_of("tp * 2 >= \"4\"") == "\"4\" is a text, where a number is wanted");
  CHECK(error_of("tp and gpus > 1") == "'tp' is the number 4 here, where a condition is wanted");
  CHECK(error_of("1 < tp < 8") == "a condition is no number to calculate or compare with");
  const Expression one("tp > 1 and gpus < \"a\"");
  try {
    one([](const std::string& name) { return kRow.at(name); });
    FAIL("it has a value");
  } catch (const ExpressionError& error) {
    CHECK(error.offset == 18);
  }
}

TEST_CASE("functions are of numbers, and there are those that the documents name") {
  CHECK(value_of("abs(0 - tp) + cbrt(8) + exp(0) + log(1) + ln(1) + log10(100) + log2(tp)") ==
        "11");
  CHECK(value_of("max(1, tp, gpus) - min(gpus, tp) + pow(2, 3) + sqrt(tp) + sum(1, 2, 3)") == "28");
  CHECK(value_of("min(tp)") == "4");
  CHECK(value_of("tp > 5 ? sqrt(tp - 5) : 0") == "0");
  CHECK(value_of("\"floor(2)\" // 1") == "floor(2)1");
  for (const std::string name :
       {"floor", "nofn", "model", "str2dbl", "parserid", "sin", "sizeof"}) {
    CAPTURE(name);
    CHECK(error_of(name + "(2.5)").starts_with("no function '" + name + "', "));
  }
  CHECK(
      error_of("1 + floor (2.5)") ==
      "no function 'floor', known: abs, cbrt, exp, ln, log, log10, log2, max, min, pow, sqrt, sum");
  CHECK(error_of("sqr(4)") == "no function 'sqr', did you mean 'sqrt'?");
  for (const std::string& name : function_names()) {
    CAPTURE(name);
    const std::string other = name == "pow" ? ", 1" : "";
    CHECK(error_of(name + "(model" + other + ")") ==
          "'model' is the text 'MPT-7b' here, where a number is wanted");
    CHECK(error_of(name + "(\"4\"" + other + ")") == "\"4\" is a text, where a number is wanted");
    CHECK(error_of(name + "(tp > 1" + other + ")") ==
          "a condition is no number to calculate or compare with");
  }
  CHECK(error_of("ckpt // max(tp, model)") ==
        "'model' is the text 'MPT-7b' here, where a number is wanted");
  for (const char* other : {"(int) 1e300", "1 << 2", "8 >> 1", "3 & 1", "3 | 4", "3!"}) {
    CAPTURE(other);
    CHECK_FALSE(error_of(other).starts_with("is "));
  }
}

TEST_CASE("docs/validation.md names every function") {
  std::string list;
  for (const std::string& name : function_names())
    list += (list.empty() ? "`" : ", `") + name + "`";
  std::ifstream in(std::string(source_folder()) + "/docs/validation.md");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  std::replace(text.begin(), text.end(), '\n', ' ');
  CAPTURE(list);
  CHECK(text.find(list) != std::string::npos);
}

TEST_CASE("the limits of an expression") {
  CHECK(error_of(std::string(2000, '(')) == "longer than 1000 characters");
  CHECK(error_of(std::string(900, '(')) != "");
}

TEST_CASE("any row of words has a value or is refused") {
  const std::vector<std::string> words{
      "gpus",  "tp", "model", "blank", "nothing", "0",    "1",    "2.5",  "1e308",   "-",  "+",
      "*",     "/",  "^",     "//",    "==",      "!=",   "<",    ">=",   "and",     "or", "not",
      "&&",    "!",  "?",     ":",     "(",       ")",    ",",    "[",    "]",       "{",  "}",
      "\"a\"", "\"", "'",     "max",   "min",     "abs",  "sqrt", "log",  "sum",     "=",  "+=",
      "%",     "&",  "|",     "<<",    "zeros",   "ones", "eye",  "size", "str2dbl", "i",  "\xc3"};
  std::mt19937 random(1);
  const auto below = [&](std::size_t count) { return random() % count; };
  std::size_t values = 0, refusals = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t n = 1 + below(12); n > 0; --n)
      text += words[below(words.size())] + (below(4) > 0 ? " " : "");
    CAPTURE(text);
    try {
      const Expression one(text);
      one([](const std::string& name) {
        const auto found = kRow.find(name);
        return found == kRow.end() ? Datum("") : found->second;
      });
      ++values;
    } catch (const ExpressionError& error) {
      ++refusals;
      CHECK_FALSE(error.message.empty());
      CHECK(error.message.find("ssertion") == std::string::npos);
      CHECK(error.offset <= static_cast<int>(text.size()));
    }
  }
  CHECK(values > 100);
  CHECK(refusals > 10'000);
}

TEST_CASE("texts are numbers where all of them is one") {
  CHECK(std::get<double>(datum_of("4")) == 4);
  CHECK(std::get<double>(datum_of("-1.5e3")) == -1500);
  for (const char* text : {"", "4 GPUs", "nan", "inf", "0x10", "1e999", "7B"})
    CHECK(std::get<std::string>(datum_of(text)) == text);
}
