# Tests of the layers themselves. For each layer, a file that includes a header of a layer that it may use compiles. A file
# that includes a header of any other layer does not compile.
set(layer_header_core core/error.h)
set(layer_header_ir ir/expr.h)
set(layer_header_rules rules/rule.h)
set(layer_header_search search/space.h)
set(layer_header_measure measure/device.h)
set(layer_header_engine engine/source/graph.h)
set(layer_uses_core core)
set(layer_uses_ir core ir)
set(layer_uses_rules core ir rules)
set(layer_uses_search core search)
set(layer_uses_measure core ir rules measure)
set(layer_uses_engine core ir rules search measure engine)
set(layers core ir rules search measure engine)

function(deplo_try_include layer header expected)
  string(MAKE_C_IDENTIFIER "${layer}_includes_${header}" name)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/layers/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
  set(roots "$<TARGET_PROPERTY:${layer},INTERFACE_INCLUDE_DIRECTORIES>")
  add_test(NAME layers.${name}
           COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only "-I$<JOIN:${roots},;-I>" ${source}
           COMMAND_EXPAND_LISTS)
  if(NOT expected)  # the compiler must fail for this reason only
    set_tests_properties(layers.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${header}(: No such file|' file not found)")
  endif()
endfunction()

foreach(layer ${layers})
  foreach(other ${layers})
    list(FIND layer_uses_${layer} ${other} found)
    if(found GREATER -1)
      deplo_try_include(${layer} ${layer_header_${other}} TRUE)
    else()
      deplo_try_include(${layer} ${layer_header_${other}} FALSE)
    endif()
  endforeach()
endforeach()

# A relative include would bypass the links that separate the layers.
add_test(NAME layers.no_relative_includes
         COMMAND grep -rnE "#include \"[.][.]/" --include=*.h --include=*.cpp
                 ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/ir ${PROJECT_SOURCE_DIR}/rules
                 ${PROJECT_SOURCE_DIR}/search ${PROJECT_SOURCE_DIR}/measure ${PROJECT_SOURCE_DIR}/engine
                 ${PROJECT_SOURCE_DIR}/apps ${PROJECT_SOURCE_DIR}/library)
set_tests_properties(layers.no_relative_includes PROPERTIES WILL_FAIL TRUE)
