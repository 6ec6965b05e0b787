# deplo_layer(NAME USED…): a static library of every source below NAME/.
#
# A layer's headers are found only through build/layers/NAME/NAME (a link to its folder), and each target gets the links
# of the layers it names, nothing else: an include of a layer to the right does not compile.
function(deplo_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/layers/empty_${name}.cpp CONTENT "")
    set(sources ${PROJECT_BINARY_DIR}/layers/empty_${name}.cpp)
  endif()
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${root}/${name} SYMBOLIC)
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${root})
  target_link_libraries(${name} PUBLIC ${ARGN})
endfunction()
