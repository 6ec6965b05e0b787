# Writes FILE with the version and the git description of SOURCE if these have changed. Runs at every build (cmake -P). If
# the source folder is not a repository itself (a tarball, perhaps inside another repository), FILE has only the version.
cmake_minimum_required(VERSION 3.25)
get_filename_component(above ${SOURCE} DIRECTORY)
set(ENV{GIT_CEILING_DIRECTORIES} ${above})
execute_process(COMMAND git describe --always --dirty --exclude=* WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE revision
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text ${VERSION})
if(revision)
  string(REGEX REPLACE "-dirty$" ", modified" commit ${revision})
  set(text "${VERSION} (${commit})")
else()
  set(revision v${VERSION})
endif()
file(CONFIGURE OUTPUT ${FILE} @ONLY CONTENT [[
#include "engine/revision.h"
std::string_view deplo::engine::version() { return "@text@"; }
std::string_view deplo::engine::revision() { return "@revision@"; }
]])
