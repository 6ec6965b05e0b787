// Sizes of the kernels of a family: `M=1..4096:pow2 N=512,1024`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "ir/program.h"

namespace deplo::engine {

/// A family has at most this many shapes.
inline constexpr std::size_t max_shapes = 256;

/// The loss that the chosen schedules of a family may have on its own shapes. The loss of a schedule on a shape is its
/// time divided by the best time of the shape, minus 1.
struct FamilyGoal {
  enum class Over : std::uint8_t { worst, mean } over = Over::worst;  // which loss of all shapes max_loss bounds
  double max_loss = 0.05;
};
inline constexpr double max_loss_percent = 1000;  // upper bound on FamilyGoal::max_loss
std::string_view name(FamilyGoal::Over);
/// "worst 0.05"
std::string print(const FamilyGoal&);

/// Parses assignments that are separated by spaces, and returns their product in order; the last name varies fastest.
/// The values of a name are a list of sizes and ranges, separated by commas. A range is FIRST..LAST (step 1),
/// FIRST..LAST:STEP, or FIRST..LAST:pow2 (FIRST, and then the powers of two up to LAST). Throws Error that begins with
/// `place`.
std::vector<ir::Symbols> parse_shapes(std::string_view text, std::string_view place);
/// The same for YAML: a text, a map of names and their values, or a list of these, whose shapes are united. Throws
/// Error `file:line: …`.
std::vector<ir::Symbols> read_shapes(const Config&);

/// Draws `count` shapes that are not in `shapes`, inside the ranges of the names that vary. The size of each name lies
/// between two neighbouring sizes of the shapes and is drawn from the seed. Returns fewer if there are no others. All
/// shapes must have the same names.
std::vector<ir::Symbols> draw_held_out(const std::vector<ir::Symbols>& shapes, std::size_t count, std::uint64_t seed);
/// Returns two shapes between each shape and its next larger neighbours, at most 24 together. In one of them the size
/// of each name is drawn from the seed, between that of the shape and the next larger one. In the other each size is
/// near the middle, a multiple of a power of two about half as large as the distance; if that shape is known, a
/// multiple of a smaller power. None of them is in `shapes` or in `others`. All shapes must have the same names.
std::vector<ir::Symbols> draw_between(const std::vector<ir::Symbols>& shapes, const std::vector<ir::Symbols>& others,
                                      std::uint64_t seed);

}  // namespace deplo::engine
