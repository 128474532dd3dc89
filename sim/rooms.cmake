# How rooms and their tests are built: add_room(), link_rooms(), and the batches in which sources are compiled.

# add_room(NAME [NEEDS ROOM ...] [HEADERS NAME] [OPTIMISE -On] [LINK LIBRARY ...] SOURCES ...)
# One OBJECT library a room: a static library would drop the files that register themselves
# (docs/decisions/001-object-libraries.md). NEEDS names the rooms whose objects a program needs beside it;
# HEADERS the headers that are read once for it (docs/decisions/016-headers-read-once.md).
function(add_room name)
  cmake_parse_arguments(ROOM "" "HEADERS;OPTIMISE" "NEEDS;LINK;SOURCES" ${ARGN})
  if(NOT ROOM_HEADERS)
    set(ROOM_HEADERS common)
  endif()
  add_library(stepsim_${name} OBJECT)
  add_sources(stepsim_${name} ${ROOM_SOURCES})
  target_link_libraries(stepsim_${name} PUBLIC stepsim_options fmt::fmt ${ROOM_LINK})
  target_compile_options(stepsim_${name} PRIVATE ${ROOM_OPTIMISE})
  target_precompile_headers(stepsim_${name} REUSE_FROM stepsim_${ROOM_HEADERS}_headers)
  set(below ${name})
  foreach(room ${ROOM_NEEDS})
    get_property(rooms GLOBAL PROPERTY STEPSIM_BELOW_${room})
    list(APPEND below ${rooms})
  endforeach()
  set_property(GLOBAL PROPERTY STEPSIM_BELOW_${name} ${below})
  set_property(GLOBAL APPEND PROPERTY STEPSIM_ROOMS ${name})
endfunction()

# add_module(NAME ROOM LINK LIBRARY ... SOURCES ...): a part of the program that comes with large libraries, loaded by
# that room when it is needed (sim/core/system/module.hpp).
function(add_module name room)
  cmake_parse_arguments(MODULE "" "" "LINK;SOURCES" ${ARGN})
  add_library(stepsim_${name} MODULE ${MODULE_SOURCES})
  target_link_libraries(stepsim_${name} PRIVATE stepsim_options ${MODULE_LINK})
  set_target_properties(stepsim_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${STEPSIM_MODULES})
  add_dependencies(stepsim_${room} stepsim_${name})
endfunction()

# link_rooms(TARGET ROOM ...): links these rooms and all that they need, each once, the lowest first.
function(link_rooms target)
  set(wanted)
  foreach(room ${ARGN})
    get_property(rooms GLOBAL PROPERTY STEPSIM_BELOW_${room})
    if(NOT rooms)
      message(FATAL_ERROR "${target}: there is no room '${room}'")
    endif()
    list(APPEND wanted ${rooms})
  endforeach()
  get_property(all GLOBAL PROPERTY STEPSIM_ROOMS)
  foreach(room ${all})
    if(room IN_LIST wanted)
      target_link_libraries(${target} PRIVATE stepsim_${room})
    endif()
  endforeach()
endfunction()

set(STEPSIM_HEADERS)
foreach(folder sim calib tests validate)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.hpp)
  list(APPEND STEPSIM_HEADERS ${headers})
endforeach()

# add_sources(TARGET SOURCE ...): with STEPSIM_UNITY, several sources are compiled as one file
# (docs/decisions/017-sources-compiled-together.md). Two sources that share a private name are put into two batches,
# which is worked out again when a source has changed.
function(add_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  if(NOT STEPSIM_UNITY)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/sim/batches.awk)
  execute_process(COMMAND awk -v size=${STEPSIM_BATCH_SIZE} -v root=${CMAKE_SOURCE_DIR}/ -f ${CMAKE_SOURCE_DIR}/sim/batches.awk
      ${STEPSIM_HEADERS} ${ARGN}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE batches COMMAND_ERROR_IS_FATAL ANY
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" batches "${batches}")
  set(number 0)
  foreach(batch ${batches})
    separate_arguments(sources UNIX_COMMAND "${batch}")
    math(EXPR number "${number} + 1")
    set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${number})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
