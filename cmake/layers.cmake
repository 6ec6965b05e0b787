# deplo_layer(NAME USED…): a static library of every source below NAME/.
#
# A layer's headers are found only through build/layers/NAME/NAME (a link to its folder), and each target gets the links
# of the layers it names, nothing else: an include of a layer to the right does not compile.
function(deplo_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cpp)
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${root}/${name} SYMBOLIC)
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${root})
  target_link_libraries(${name} PUBLIC ${ARGN})
  deplo_precompile(${name} core ${PROJECT_SOURCE_DIR}/cmake/std.pch.h)
endfunction()

# deplo_precompile(TARGET FIRST HEADER): compiles HEADER once, in FIRST, and uses it in TARGET. What the standard library
# costs each file is half of a clean build.
function(deplo_precompile target first header)
  if(CMAKE_CXX_COMPILER_LAUNCHER)  # ccache cannot share what a precompiled header of one build folder went into
    target_compile_options(${target} PRIVATE -include ${header})
  elseif(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${header})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()
