// `deplo compile --tile`: the text of a tile program.
#pragma once
#include <string>

namespace deplo::apps {

struct TileProgramOptions {
  std::string file, entry;  // "": all entries
};

/// The program, read, verified and printed. Throws Error with the place of what is wrong.
std::string print_tile_program(const TileProgramOptions&);

}  // namespace deplo::apps
