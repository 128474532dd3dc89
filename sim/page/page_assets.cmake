# Writes a source with the texts of STYLES, SCRIPTS (files, in order), D3 and LICENCE to OUTPUT.

# The text of files, one after another, as a raw literal of C++ and a script of HTML can hold it.
function(text_of variable)
  set(text "")
  foreach(file ${ARGN})
    file(READ ${file} one)
    string(APPEND text "${one}")
  endforeach()
  if(text MATCHES "</[sS]cript|\\)asset\"")
    message(FATAL_ERROR "${ARGN}: this text would end the page's script")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

text_of(styles ${STYLES})
text_of(scripts ${SCRIPTS})
text_of(d3 ${D3})
text_of(licence ${LICENCE})
string(REPLACE "--" "- -" licence "${licence}")  # which would end a comment of HTML
file(WRITE ${OUTPUT} "#include \"sim/page/page_assets.hpp\"\n\nnamespace stepsim::page_assets {\n")
foreach(name styles scripts d3)
  file(APPEND ${OUTPUT} "const std::string_view ${name} = R\"asset(${${name}})asset\";\n")
endforeach()
file(APPEND ${OUTPUT} "const std::string_view d3_licence = R\"asset(${licence})asset\";\n}\n")
