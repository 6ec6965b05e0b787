// `deplo compile --tile`: prints the text of a tile program.
#pragma once
#include <string>

#include "engine/source/source.h"

namespace deplo::apps {

/// Reads, verifies and prints a program: all its entries, or the named one. Throws Error with the place of a mistake.
std::string print_tile_program(const engine::TileSource&);

}  // namespace deplo::apps
