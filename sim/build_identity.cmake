# Writes a source with a hash of all sources in FOLDER, of their names and texts, and of the words
# WITH, which say what else makes the program, to OUTPUT.
file(GLOB_RECURSE sources RELATIVE ${FOLDER} ${FOLDER}/*.cpp ${FOLDER}/*.hpp)
list(SORT sources)
set(all "${WITH}\n")
foreach(source ${sources})
  file(SHA256 ${FOLDER}/${source} hash)
  string(APPEND all "${source} ${hash}\n")
endforeach()
string(SHA256 identity "${all}")
string(SUBSTRING ${identity} 0 16 identity)
file(WRITE ${OUTPUT} "#include \"sim/cli/build_identity.hpp\"\n\n\
namespace stepsim {\nconst char* const kBuildIdentity = \"${identity}\";\n}\n")
