// Tile programs, as text and as bytecode.
#include <fmt/format.h>

#include "attack/kinds.h"
#include "attack/mutate.h"
#include "core/error.h"
#include "ir/tile_program/interpret/interpret.h"
#include "ir/tile_program/text/text.h"

namespace deplo::attack {
namespace {

namespace fs = std::filesystem;
namespace tiles = ir::tile_program;

std::string damage_program(const Seed& seed, const std::string& other, Rng& rng, const fs::path&) {
  return mutate(seed.bytes, other, rng);
}

/// Arrays of a few thousand elements, and numbers that are small extents.
tiles::Launch launch_of(const tiles::Entry& entry, std::vector<tiles::Array>& arrays) {
  tiles::Launch launch{
      .entry = entry.name, .grid = {2, 1, 1}, .seed = 1, .idle = 1000, .steps = 2000, .memory = 64 << 20};
  for (const tiles::ValueId id : entry.parameters) {
    const tiles::Type& type = *entry.values[id].type;
    if (type.pointer) {
      arrays.push_back(tiles::make_array(fmt::format("a{}", arrays.size()), type.element, 4096));
      launch.arguments.emplace_back(tiles::ArrayArgument{arrays.size() - 1});
    } else {
      launch.arguments.emplace_back(std::int64_t{type.element == tiles::Element::i1 ? 1 : 8});
    }
  }
  return launch;
}

/// A program that is accepted reads back as it was printed, and runs.
std::string check_program(const fs::path& file) {
  const tiles::Program program = tiles::read_program(read_bytes(file), file.string());
  const std::string text = tiles::print(program);
  if (tiles::print(tiles::read_program(text, file.string())) != text) return "its print reads as another program";
  for (const tiles::Entry& entry : program.entries) {
    std::vector<tiles::Array> arrays;
    try {
      tiles::run(program, launch_of(entry, arrays), arrays);
    } catch (const Error&) {  // what it computes is its own
    }
  }
  return "";
}

}  // namespace

Kind tile_programs() {
  Kind kind{"tile", {}, damage_program};
  const fs::path root(DEPLO_SOURCE_DIR);
  for (const fs::path& folder : {root / "tests" / "data" / "tile_programs", root / "experiments" / "tile"})
    for (const auto& file : fs::directory_iterator(folder))
      if (file.path().extension() != ".py" && file.path().filename() != "gemm_square_as_printed.tile")
        kind.seeds.push_back({file.path().filename().string(), read_bytes(file.path()), {}, check_program});
  return kind;
}

}  // namespace deplo::attack
