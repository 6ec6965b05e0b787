#include "apps/inspect/tile_program.h"

#include "core/file.h"
#include "ir/tile_program/text/text.h"

namespace deplo::apps {

std::string print_tile_program(const engine::TileSource& source) {
  ir::tile_program::Program program = ir::tile_program::read_program(read_file(find_data(source.file)), source.file);
  if (!source.entry.empty()) {
    const std::string name = find_entry(program, source.entry).name;
    std::erase_if(program.entries, [&](const ir::tile_program::Entry& entry) { return entry.name != name; });
  }
  return print(program);
}

}  // namespace deplo::apps
