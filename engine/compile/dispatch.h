// Which of a few schedules a kernel of a family gets: a decision tree over its extents. `deplo tune --shapes` makes
// such rules, and a store keeps them (docs/shapes.md).
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "engine/compile/compiled.h"
#include "ir/program.h"

namespace deplo::engine {

/// A kernel, split into what kernels of all sizes have in common and its numbers.
struct ShapeForm {
  std::string mask;             // the text of ir::renamed() with # for each number
  std::vector<double> numbers;  // in their order: sizes, strides, constants that follow from sizes
  std::string key() const;      // a digest of the mask
};
/// `kernel` must be verified Loop IR.
ShapeForm shape_form(const ir::Program& kernel);

/// A kernel with the names of another one.
struct NamedKernel {
  ir::Program loop;
  std::vector<std::size_t> arguments;  // [i]: the buffer of the kernel that is the i-th of `loop`
};
/// `theirs` with the sizes of `kernel`; their forms have the same mask. Knobs name buffers and axes, so a schedule of
/// one kernel of a family needs its names in the others. nullopt: the texts differ in more than numbers.
std::optional<NamedKernel> with_names_of(const ir::Program& kernel, const ir::Program& theirs);

struct DispatchRule {
  /// A size that varies in the family.
  struct Extent {
    std::string name;                  // of a symbol, or "n7" for number 7 of the form
    std::vector<std::size_t> columns;  // the numbers of the form that are equal to it in the whole family
    double least = 0, most = 0;        // in the family
    bool operator==(const Extent&) const = default;
  };
  /// A leaf has a schedule; others ask whether an extent is below a number.
  struct Node {
    std::optional<std::size_t> extent;  // index in `extents`; nullopt: a leaf
    double below = 0;
    std::size_t yes = 0, no = 0;  // indices in `nodes`, larger than that of this node
    std::size_t schedule = 0;     // of a leaf: index in `schedules`
    bool operator==(const Node&) const = default;
  };
  std::vector<Extent> extents;
  std::vector<std::string>
      schedules;            // trails; "": the heuristic's. A kernel gets the nearest legal one (search/trails.h)
  std::vector<Node> nodes;  // the first is the root
  bool operator==(const DispatchRule&) const = default;
};

/// The index of the schedule for a kernel whose form has these numbers. `family`: the numbers of a kernel of the
/// family. nullopt: the kernel is not within the family, because an extent is outside its range, or another number
/// differs.
std::optional<std::size_t> dispatch(const DispatchRule&, const std::vector<double>& numbers,
                                    const std::vector<double>& family);

/// JSON on one line.
std::string print(const DispatchRule&);
/// Throws Error, prefixed by `place`, if the text is not a rule.
DispatchRule parse_rule(std::string_view text, const std::string& place);
/// For people: "M < 91: A; otherwise N < 300: B; otherwise C".
std::string describe(const DispatchRule&);
/// When each schedule is chosen: "M < 91 and N >= 300 or M >= 91", "always" or "never".
std::vector<std::string> conditions(const DispatchRule&);
/// "A", "B", …, "Z", "A1", …
std::string schedule_letter(std::size_t schedule);

/// The kernel with the legal schedule that is nearest to a trail ("": with the heuristic's).
Compiled compile_nearest(const ir::Program& kernel, const Target&, const std::string& trail);

}  // namespace deplo::engine
