// Decision trees over the extents of a family of kernels. A tree chooses one of a few schedules for each kernel. `deplo
// tune --shapes` makes these rules, and a store keeps them (docs/shapes.md).
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

/// A kernel's text split in two: the part that kernels of all sizes share, and the numbers.
struct ShapeForm {
  std::string mask;  // the text of ir::renamed() with # in place of each number
  // the numbers in order of their appearance: sizes, strides, constants that follow from sizes
  std::vector<double> numbers;
  std::string key() const;  // returns a digest of the mask
};
/// Returns the form of a kernel. `kernel` must be verified Loop IR.
ShapeForm shape_form(const ir::Program& kernel);

/// A kernel with the names of another kernel.
struct NamedKernel {
  ir::Program loop;
  std::vector<std::size_t> arguments;  // [i]: index in the original kernel of the i-th buffer of `loop`
};
/// Returns `theirs` with the sizes of `kernel`. The masks of their forms must be equal. Knobs name buffers and axes, so
/// applying one kernel's schedule to another kernel of the family needs the first kernel's names. Returns nullopt if
/// the texts differ in more than numbers.
std::optional<NamedKernel> with_names_of(const ir::Program& kernel, const ir::Program& theirs);

struct DispatchRule {
  /// A size that varies in the family.
  struct Extent {
    std::string name;                  // the name of a symbol, or "n7" for number 7 of the form
    std::vector<std::size_t> columns;  // the numbers of the form that equal this extent in every kernel of the family
    double min = 0, max = 0;           // range in the family, inclusive
    bool operator==(const Extent&) const = default;
  };
  /// A leaf chooses a schedule. Any other node asks whether an extent is below a number.
  struct Node {
    std::optional<std::size_t> extent;  // index in `extents`; nullopt: a leaf
    double below = 0;
    std::size_t yes = 0, no = 0;  // indices in `nodes`, larger than this node's index
    std::size_t schedule = 0;     // in a leaf: index in `schedules`
    bool operator==(const Node&) const = default;
  };
  std::vector<Extent> extents;
  // trails; "" stands for the heuristic's. A kernel gets the legal schedule nearest to the trail (search/trails.h)
  std::vector<std::string> schedules;
  std::vector<Node> nodes;  // nodes[0] is the root
  bool operator==(const DispatchRule&) const = default;
};

/// Returns the index of the schedule for a kernel whose form has the numbers `numbers`. `family` has the numbers of any
/// one kernel of the family. Returns nullopt if the kernel is outside the family: an extent is out of its range, or
/// another number differs.
std::optional<std::size_t> dispatch(const DispatchRule&, const std::vector<double>& numbers,
                                    const std::vector<double>& family);

/// Prints the rule as JSON on one line.
std::string print(const DispatchRule&);
/// Parses the text of print(). Throws Error, prefixed by `place`, if the text is not a rule.
DispatchRule parse_rule(std::string_view text, const std::string& place);
/// Describes the rule for people: "M < 91: A; otherwise N < 300: B; otherwise C".
std::string describe(const DispatchRule&);
/// Returns the condition under which each schedule is chosen: "M < 91 and N >= 300 or M >= 91", "always" or "never".
std::vector<std::string> conditions(const DispatchRule&);
/// Returns the letter of a schedule: "A", "B", …, "Z", "A1", …
std::string schedule_letter(std::size_t schedule);

/// Compiles the kernel with the legal schedule that is nearest to `trail`. For "", the heuristic's schedule is used.
Compiled compile_nearest(const ir::Program& kernel, const Target&, const std::string& trail);

}  // namespace deplo::engine
