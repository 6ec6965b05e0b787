// `deplo compile --tile`: the text of a tile program.
#pragma once
#include <string>

#include "engine/source/source.h"

namespace deplo::apps {

/// The program, read, verified and printed; all its entries, unless one is named. Throws Error with the place of what is
/// wrong.
std::string print_tile_program(const engine::TileSource&);

}  // namespace deplo::apps
