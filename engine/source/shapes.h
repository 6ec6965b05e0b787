// The sizes of a family's kernels: `M=1..4096:pow2 N=512,1024`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "ir/program.h"

namespace deplo::engine {

/// The largest number of shapes in a family.
inline constexpr std::size_t max_shapes = 256;

/// The acceptable loss of a family's chosen schedules on the family's own shapes. The loss of a schedule on a shape is
/// the schedule's time divided by the best time of the shape, minus 1.
struct FamilyGoal {
  // max_loss bounds the worst or the mean loss over all shapes
  enum class Over : std::uint8_t { worst, mean } over = Over::worst;
  double max_loss = 0.05;
};
inline constexpr double max_loss_percent = 1000;  // upper bound on FamilyGoal::max_loss, in percent
std::string_view name(FamilyGoal::Over);
/// Returns a text such as "worst 0.05".
std::string print(const FamilyGoal&);

/// Parses assignments separated by spaces, and returns their product in order; the last name varies fastest. The values
/// of a name are sizes and ranges, separated by commas. A range is FIRST..LAST (step 1), FIRST..LAST:STEP, or
/// FIRST..LAST:pow2 (FIRST, and then the powers of two up to LAST). Throws Error, prefixed by `place`.
std::vector<ir::Symbols> parse_shapes(std::string_view text, std::string_view place);
/// Reads shapes from YAML: a text as in parse_shapes(), a map from names to their values, or a list of these, whose
/// shapes are combined. Throws Error `file:line: …`.
std::vector<ir::Symbols> read_shapes(const Config&);

/// Draws `count` shapes that are not in `shapes`. The size of each name is drawn from `seed`, between two neighbouring
/// sizes that occur in `shapes`. Returns fewer shapes if there are no others. All shapes must have the same names.
std::vector<ir::Symbols> draw_held_out(const std::vector<ir::Symbols>& shapes, std::size_t count, std::uint64_t seed);
/// Draws two shapes between each shape and its next larger neighbours, at most 24 in all. In the first shape, the size
/// of each name is drawn from `seed`, between the shape's size and the next larger one. In the second shape, each size
/// is near the middle: a multiple of a power of two about half as large as the distance. If that shape is known
/// already, the size is a multiple of a smaller power. None of the shapes is in `shapes` or `others`. All shapes must
/// have the same names.
std::vector<ir::Symbols> draw_between(const std::vector<ir::Symbols>& shapes, const std::vector<ir::Symbols>& others,
                                      std::uint64_t seed);

}  // namespace deplo::engine
