# deplo_layer(NAME USED… [HOT] [PART FOLDER]): a static library of every source below NAME/.
#
# A layer's headers are found only through build/layers/NAME/NAME (a link to its folder). Each target gets only the links of
# the layers that it names as USED, so an include of any other layer does not compile.
#
# HOT: the layer's code runs millions of times and is compiled with DEPLO_HOT_FLAGS in Release. Other layers are compiled
# with -O1, which takes three quarters of the time. For FOLDER below the layer (the target NAME_FOLDER) it is the reverse.
function(deplo_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "HOT" "PART" "")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.cpp)
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${root}/${name} SYMBOLIC)
  set(targets ${name})
  if(layer_PART)
    set(part ${sources})
    list(FILTER part INCLUDE REGEX "/${name}/${layer_PART}/")
    list(REMOVE_ITEM sources ${part})
    add_library(${name}_${layer_PART} OBJECT ${part})
    list(APPEND targets ${name}_${layer_PART})
  endif()
  add_library(${name} STATIC ${sources})
  deplo_verify_headers(${name})
  foreach(target ${targets})
    target_include_directories(${target} PUBLIC ${root})
    target_link_libraries(${target} PUBLIC ${layer_UNPARSED_ARGUMENTS})
    set(is_hot ${layer_HOT})
    if(layer_PART AND target STREQUAL ${name}_${layer_PART} AND layer_HOT)
      set(is_hot FALSE)
    elseif(layer_PART AND target STREQUAL ${name}_${layer_PART})
      set(is_hot TRUE)
    endif()
    if(is_hot)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${DEPLO_HOT_FLAGS}>)
      deplo_precompile(${target} core ${PROJECT_SOURCE_DIR}/cmake/std.pch.h)
    else()
      deplo_precompile(${target} ir_torch ${PROJECT_SOURCE_DIR}/cmake/std.pch.h)
    endif()
    deplo_compile_by_room(${target})
  endforeach()
  if(layer_PART)
    target_link_libraries(${name} PRIVATE ${name}_${layer_PART})
  endif()
endfunction()

# deplo_verify_headers(LAYER): with CMAKE_VERIFY_INTERFACE_HEADER_SETS (make lint), the target
# all_verify_interface_header_sets compiles each header of the layer alone, which checks that it includes what it uses.
function(deplo_verify_headers layer)
  set(root ${PROJECT_BINARY_DIR}/layers/${layer})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${layer}/*.h)
  list(TRANSFORM headers PREPEND ${root}/)
  target_sources(${layer} INTERFACE FILE_SET HEADERS BASE_DIRS ${root} FILES ${headers})
endfunction()

# deplo_compile_by_room(TARGET): with DEPLO_UNITY, up to 24 files of a room (a folder of a layer, including the folders
# below it) are compiled as one, so each header and its templates are compiled once. The last seven rules take 5.1 s
# together and 12.2 s one by one (g++ 12 -O1 with the precompiled header, processor time). The tests of a layer are one
# room, because most of their time is spent on the templates of GoogleTest. A name in a file's anonymous namespace is
# visible in the other files of the room. So it may be defined only once in a room, and must differ from the names of the
# layer's headers. The rooms in `apart` are compiled one file at a time, because their files use the same names for
# corresponding parts. A test whose names also occur in neighbouring tests has its own namespace. A local name may hide a
# name of another file, so -Wshadow is used only without DEPLO_UNITY.
function(deplo_compile_by_room target)
  if(NOT DEPLO_UNITY)
    return()
  endif()
  set(apart ir/interpret/arithmetic measure/ptx/instructions)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    if(NOT folder IN_LIST apart)
      string(REGEX REPLACE "^([^/]+/[^/]+)/.*" "\\1" room "${folder}")
      list(APPEND files_${room} ${source})
      list(LENGTH files_${room} count)
      math(EXPR part "(${count} - 1) / 24")
      string(MAKE_C_IDENTIFIER "${room}_${part}" group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wno-shadow)
endfunction()

# deplo_precompile(TARGET FIRST HEADER): compiles HEADER once, in FIRST, and uses it in TARGET. Without this, the standard
# library takes half of the time of a clean build. TARGET and FIRST must have the same -O, because g++ takes the level from
# the precompiled header.
function(deplo_precompile target first header)
  if(CMAKE_CXX_COMPILER_LAUNCHER)  # ccache cannot share objects that depend on a build folder's precompiled header
    target_compile_options(${target} PRIVATE -include ${header})
  elseif(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${header})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()
