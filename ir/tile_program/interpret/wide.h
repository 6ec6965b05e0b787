// 128-bit integers, an extension of g++ and clang to ISO C++. Private to this folder.
#pragma once

namespace deplo::ir::tile_program::exec {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

}  // namespace deplo::ir::tile_program::exec
