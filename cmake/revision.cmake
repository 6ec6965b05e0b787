# Writes FILE with what `git describe` says of SOURCE, where that has changed: run at every build (cmake -P).
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git describe --always --dirty --tags WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE revision
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT revision)
  set(revision unknown)
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT
     "#include \"apps/revision.h\"\nstd::string_view deplo::apps::revision() { return \"@revision@\"; }\n" @ONLY)
