// The form of a tile program's launch: kernels of Loop IR, element by element, or one kernel that runs the program block
// by block. It is a decision about the whole launch, as the decisions of fusion are about a graph: tuning measures the
// kernels of both forms and keeps the faster one (engine/tune/kernel_sets.h).
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/trail.h"
#include "engine/source/options.h"
#include "engine/source/tile_program/tile_launch.h"
#include "ir/module.h"

namespace deplo::engine {

/// The decision's name, and its values: rules/raise makes the kernels, or rules/blocks makes the kernel.
inline constexpr std::string_view form_knob = "tile.form", by_elements = "elements", by_blocks = "blocks";

struct LaunchForm {
  std::optional<ir::Module> module;  // nullopt: the launch runs block by block
  std::string why_blocks;            // why it runs block by block; "": it does not
  std::optional<Fork> fork;          // the decision, the heuristic's option first; nullopt: there is only one form
  Value value() const { return std::string(module ? by_elements : by_blocks); }
};

/// Lowers a launch in the form that the options fix, else in the one that `taken` names, else in the heuristic's. The
/// heuristic takes blocks if Loop IR would compute the same values several times. A launch that Loop IR cannot express
/// runs block by block, unless the options forbid that. Throws Error if the launch is wrong.
LaunchForm choose_form(const TileLaunch&, const SourceOptions&, const Trail& taken);

}  // namespace deplo::engine
