// The form of a tile program's launch: kernels of Loop IR, element by element, or one kernel that runs the program
// block by block. The form is a decision about the whole launch, like the decisions of fusion about a graph. Tuning
// measures the kernels of both forms and keeps the faster form (engine/tune/kernel_sets.h).
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/trail.h"
#include "engine/source/options.h"
#include "engine/source/tile_program/tile_launch.h"
#include "ir/module.h"

namespace deplo::engine {

/// The name of the decision, and its two values. "elements": rules/raise makes the kernels. "blocks": rules/blocks
/// makes the only kernel.
inline constexpr std::string_view form_knob = "tile.form", by_elements = "elements", by_blocks = "blocks";

/// Returns the trail that takes this form.
Trail take_form(std::string_view form);

struct LaunchForm {
  std::optional<ir::Module> module;  // nullopt: the launch runs block by block
  std::string why_blocks;            // why the launch runs block by block; "": it does not
  std::optional<Fork> fork;          // the decision, with the heuristic's option first; nullopt: there is no choice
};

/// Chooses the form of a launch, and makes the kernels if the form is "elements". If the options fix the form,
/// `taken` does not count; else `taken` may name it; else the heuristic chooses it. The heuristic chooses blocks
/// if kernels of Loop IR would compute each value too often (max_repetitions in form.cpp). A launch that Loop IR
/// cannot express runs block by block, unless the options forbid that. Throws Error if the launch is wrong.
LaunchForm choose_form(const TileLaunch&, const SourceOptions&, const Trail& taken);

}  // namespace deplo::engine
