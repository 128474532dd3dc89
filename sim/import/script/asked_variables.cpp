// Looks for names in the text of scripts. What is found too much has no bearing on the launch, which
// those who ask find out by trying; what is assigned somewhere is the script's own.
#include "sim/import/script/asked_variables.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "sim/core/words.hpp"

namespace stepsim {
namespace {

/// bash sets them (bash(1), Shell Variables), and login does.
constexpr std::string_view kOfShell =
    "EUID FUNCNAME HOME HOSTNAME HOSTTYPE IFS LINENO LOGNAME MACHTYPE OLDPWD OPTARG OPTIND OSTYPE "
    "PATH PIPESTATUS PPID PWD RANDOM REPLY SECONDS SHELL SHLVL TERM UID USER NODE_RANK RANK "
    "LOCAL_RANK EPOCHSECONDS";

bool is_of_shell(std::string_view name) {
  return has_word(kOfShell, name) || name.starts_with("BASH");
}

/// Longer lines are none that people write, and too long for patterns.
constexpr std::size_t kLongestLine = 4096;

/// Calls `on_line` with each line and its offset.
template <class OnLine>
void for_lines(const std::string& code, OnLine on_line) {
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    if (end - begin <= kLongestLine) on_line(code.substr(begin, end - begin), begin);
    begin = end + 1;
  }
}

/// NAME=, NAME+=, for NAME, read NAME and the like.
std::set<std::string> assigned_names(const std::string& code) {
  static const std::regex assignment(
      R"((^|[\s;(|&`"'])([A-Za-z_]\w*)(\[[^\]]*\])?\+?=(?!=)([^\n]*))"),
      other(
          R"(\b(?:for|select|read(?: -\w+)*|mapfile(?: -\w+)*|readarray(?: -\w+)*|printf -v)[ \t]+([A-Za-z_]\w*))"),
      declared(R"(\b(?:local|declare|typeset|readonly)[ \t]+(?:-\w+[ \t]+)*([A-Za-z_]\w*))"),
      counted(R"(\(\([ \t]*([A-Za-z_]\w*)[ \t]*(?:\+\+|--|[-+*/]?=(?!=)))");
  std::set<std::string> names;
  for (std::sregex_iterator at(code.begin(), code.end(), assignment), end; at != end; ++at) {
    const std::string name = (*at)[2], value = (*at)[4];
    // A default for what the environment may have is no value of the script's own.
    const std::size_t begin = value.find_first_not_of("\"'");
    const bool is_preset = begin != std::string::npos &&
                           (value.compare(begin, name.size() + 3, "${" + name + ":") == 0 ||
                            value.compare(begin, name.size() + 3, "${" + name + "-") == 0);
    if (!is_preset) names.insert(name);
  }
  for (const std::regex* pattern : {&other, &declared, &counted}) {
    for (std::sregex_iterator at(code.begin(), code.end(), *pattern), end; at != end; ++at)
      names.insert((*at)[1]);
  }
  return names;
}

struct Use {
  std::size_t offset;
  std::string name;
  std::optional<std::string> preset;
};

std::vector<Use> uses(const std::string& code) {
  static const std::regex plain(R"(\$(?:\{#?)?([A-Za-z_]\w*|[1-9]\d*)(:?[-=+]([^}\n]*)\})?)"),
      sum(R"(\(\(([^\n]*?)\)\))"), name(R"(([$\w{]?)\b([A-Za-z_]\w*))");
  std::vector<Use> found;
  for (std::sregex_iterator at(code.begin(), code.end(), plain), end; at != end; ++at) {
    Use use{static_cast<std::size_t>(at->position()), (*at)[1], std::nullopt};
    if ((*at)[2].matched) use.preset = (*at)[3];
    found.push_back(use);
  }
  for (std::sregex_iterator at(code.begin(), code.end(), sum), end; at != end; ++at) {
    const std::string inside = (*at)[1];
    for (std::sregex_iterator one(inside.begin(), inside.end(), name); one != end; ++one) {
      if ((*one)[1].length() == 0)
        found.push_back({static_cast<std::size_t>(at->position(1) + one->position(2)), (*one)[2],
                         std::nullopt});
    }
  }
  return found;
}

bool is_condition(const std::string& line) {
  static const std::regex condition(R"(\b(if|elif|case|while|until)\b|\[ |\[\[)");
  return std::regex_search(line, condition);
}

}  // namespace

std::vector<AskedVariable> asked_variables(const ScriptText& text, const Variables& given) {
  std::set<std::string> assigned;
  for (std::size_t i = 0; i < text.sources().size(); ++i)
    for_lines(text.code(i),
              [&](const std::string& line, std::size_t) { assigned.merge(assigned_names(line)); });
  std::map<std::string, AskedVariable> found;
  for (std::size_t i = 0; i < text.sources().size(); ++i) {
    const auto& source = text.sources()[i];
    for_lines(text.code(i), [&](const std::string& line, std::size_t offset) {
      for (const Use& use : uses(line)) {
        if (assigned.contains(use.name) || given.contains(use.name) || is_of_shell(use.name))
          continue;
        const Place place = place_at(source, offset + use.offset);
        AskedVariable& one =
            found.try_emplace(use.name, AskedVariable{use.name, place, use.preset}).first->second;
        if (use.preset && !one.preset) one.preset = use.preset;
        one.chooses |= is_condition(line);
      }
    });
  }
  std::vector<AskedVariable> all;
  for (auto& [name, one] : found) all.push_back(std::move(one));
  return all;
}

}  // namespace stepsim
