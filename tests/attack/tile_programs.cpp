// Tile programs, as text and as bytecode.
#include <fmt/format.h>

#include "attack/kinds.h"
#include "attack/mutate.h"
#include "core/error.h"
#include "ir/tile_program/interpret/interpret.h"
#include "ir/tile_program/text/text.h"
#include "rules/blocks/block_kernel.h"
#include "rules/raise/raise.h"

namespace deplo::attack {
namespace {

namespace fs = std::filesystem;
namespace tiles = ir::tile_program;

std::string damage_program(const Seed& seed, const std::string& other, Rng& rng, const fs::path&) {
  return mutate(seed.bytes, other, rng);
}

/// The launches of an entry, for the interpreter and for rules::raise, on arrays of a few thousand elements.
struct Launches {
  tiles::Launch launch{.grid = {2, 1, 1}, .seed = 1, .idle = 1000, .steps = 2000, .memory = 64 << 20};
  rules::TileLaunch raised;  // a launch of one block, whose tiles are then the only ones
  std::vector<tiles::Array> arrays = {};
};

/// Scalar arguments are small extents. If the number of scalars after a pointer fits extents and strides, they describe
/// the array of that pointer.
Launches launches_of(const tiles::Entry& entry) {
  constexpr std::int64_t extent = 8, most = 4096;
  Launches all{.raised = {.entry = entry.name, .arguments = {}}};
  all.launch.entry = entry.name;
  const auto is_pointer = [&](std::size_t i) { return entry.values[entry.parameters[i]].type->pointer; };
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const tiles::Type& type = *entry.values[entry.parameters[i]].type;
    if (!type.pointer) {
      const std::int64_t number = type.element == ir::DType::boolean ? 1 : extent;
      all.launch.arguments.emplace_back(number);
      all.raised.arguments.emplace_back(number);
      continue;
    }
    std::size_t numbers = 0;
    while (i + 1 + numbers < entry.parameters.size() && !is_pointer(i + 1 + numbers)) ++numbers;
    const bool known = numbers == 2 || numbers == 4 || numbers == 6 || numbers == 8;
    const ir::Shape shape = known ? ir::Shape(numbers / 2, extent) : ir::Shape{most};
    const ir::Shape strides = ir::row_major_strides(shape);
    const std::string name = fmt::format("a{}", all.arrays.size());
    all.launch.arguments.emplace_back(tiles::ArrayArgument{all.arrays.size()});
    all.raised.arguments.emplace_back(rules::TileArray{name, shape, strides});
    all.arrays.push_back(tiles::make_array(name, type.element, most));
    for (std::size_t n = 0; known && n < numbers; ++n, ++i) {
      const std::int64_t number = n < shape.size() ? shape[n] : strides[n - shape.size()];
      all.launch.arguments.emplace_back(number);
      all.raised.arguments.emplace_back(number);
    }
  }
  return all;
}

/// Calls `what`, and ignores an Error from it.
void attempt(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error&) {  // a refusal is no fault
  }
}

/// Checks that an accepted program parses back from its print, compiles and runs. Returns what is wrong, or "".
std::string check_program(const fs::path& file) {
  const tiles::Program program = tiles::read_program(read_bytes(file), file.string());
  const std::string text = tiles::print(program);
  if (tiles::print(tiles::read_program(text, file.string())) != text) return "its print reads as another program";
  for (const tiles::Entry& entry : program.entries) {
    Launches with = launches_of(entry);
    attempt([&] { (void)rules::raise(program, with.raised); });
    for (const char* target : {"opencl-cpu", "sm_90"})
      attempt(
          [&] { (void)rules::lower_blocks(program, with.launch, with.arrays, {.threads = 8}, load_target(target)); });
    attempt([&] { tiles::run(program, with.launch, with.arrays); });
  }
  return "";
}

}  // namespace

Kind tile_programs() {
  Kind kind{"tile", {}, damage_program};
  const fs::path root(DEPLO_SOURCE_DIR);
  for (const fs::path& folder : {root / "experiments" / "tile" / "exported", root / "experiments" / "tile"})
    for (const auto& file : fs::directory_iterator(folder))
      if (file.is_regular_file() && file.path().extension() != ".py" &&
          file.path().filename() != "gemm_square_as_printed.tile")
        kind.seeds.push_back({file.path().filename().string(), read_bytes(file.path()), {}, check_program});
  return kind;
}

}  // namespace deplo::attack
