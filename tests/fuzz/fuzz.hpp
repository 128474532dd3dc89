// What the programs of this folder share: each is one reader, and whatever calls it.
//
// libFuzzer makes up texts and looks at which code they reach (LLVMFuzzerTestOneInput of fuzz.cpp); an ordinary test
// reads the texts that are kept (replay.cpp).
#pragma once

#include <string>

#include "sim/scenario/load.hpp"

namespace stepsim {

/// The reader, and what works on what it read; each program has its own. Whatever the text, it returns, or throws
/// one of the errors that a command ends with because of its input. Anything else is a defect.
void read_text(const std::string& text);

/// What the reader says against the text; "" where it takes it. Throws what is a find.
std::string refusal_of(const std::string& text);

/// Lets commands that look for names by themselves find the small ones first.
void use_fuzz_library();

/// Writes a file of that name with that text, and returns its path. The folder is this process's own, and so is each
/// name: the file before is replaced.
std::string file_of(const std::string& name, const std::string& text);

/// Small models, clusters and profiles, and those of the source tree. Each file is parsed once.
const Library& fuzz_library();

/// Throws an error that is no input's.
void require(bool holds, const char* what);

}  // namespace stepsim
