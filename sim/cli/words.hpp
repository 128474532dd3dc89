// The words of the command line: before CLI11 reads them, and those that it does not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace stepsim {

/// With `help` and `help COMMAND` as options. Throws UserError where there is no such command:
/// CLI11 would only say that one is required. Of a command that takes another program's words, those
/// from "--" on are marked, so that CLI11 takes none of them for an option or for a word of an outer
/// command.
std::vector<std::string> words_of(int argc, char** argv, const CLI::App& app);

/// The word without the mark of words_of().
std::string without_mark(std::string_view word);

/// The words that an option takes by one_of_these(); none where it takes any.
std::vector<std::string> choices_of(const CLI::Option& option);

/// What is wrong with the words, where there is more to say than CLI11 does; else empty. "no option
/// '--formt' of `run`, did you mean '--format'?": the first word that the command which was being
/// read does not know, an option before others, which may be its value. "`list` needs one of
/// models, gpus, ... or topologies": a word that is missing, of those that can be listed.
std::string mistake_in_words(const CLI::App& app, const CLI::ParseError& error);

}  // namespace stepsim
