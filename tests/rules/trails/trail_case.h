// A path through the rules: a kernel, its extents, a target and the choices, and everything that must hold on it. The
// kernel is one of Loop IR, or one that a launch of a tile program is raised to. The latter must also compute what the
// tile program computes.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/module.h"
#include "rules/programs.h"
#include "rules/rule.h"

namespace deplo::rules {

/// A fault that is planted in a program, to test that it is found.
using Fault = ir::Program (*)(ir::Program);

struct TrailCase {
  std::string kernel, target;
  ir::Symbols symbols;
  Trail wanted = {};        // choices by knob; other knobs take options[0]
  std::uint64_t seed = 0;   // if not 0, choices are drawn
  std::uint64_t lazy = 0;   // percentage of forks that take options[0]; at the others, all options are equally likely
  int tight = 0;            // 1, 2: a device with limits that small extents reach
  std::uint64_t types = 0;  // base-3 digits, the first buffer's is the lowest: 1 changes f32 to f16, 2 to bf16
  bool tf32 = false;        // whether tf32 is allowed
  Fault fault = nullptr;    // planted in the Kernel IR
  std::uint64_t draw = 0;   // seed of a tile program (tile_case.h), whose kind is `kernel`
  std::uint64_t part = 0;   // number of the raised kernel that is scheduled, modulo their count
};
std::string describe(const TrailCase&);
ir::Program loop_program(const TrailCase&);

/// Draws a kernel, extents and limits. The work is bounded, so that interpreting takes milliseconds.
using Draw = TrailCase (*)(std::string_view target, std::uint64_t seed);
TrailCase random_case(std::string_view target, std::uint64_t seed);
/// Draws a launch of a tile program instead: one that every clone has (tile_kinds()), or one of ../shared
/// (shared_tile_kinds()).
TrailCase random_tile_case(std::string_view target, std::uint64_t seed);
TrailCase random_shared_tile_case(std::string_view target, std::uint64_t seed);

/// The result of an attempt. `trail`: the choices up to the failure. `failure`: "" if everything holds.
struct Finding {
  Trail trail;
  std::string failure;
};
/// Lowers the case to source text and interprets each level, in a process of its own. So an abort or an endless loop is
/// a failure, too.
Finding attempt(const TrailCase&);

/// Returns the kernels that the case's tile program is raised to; nullopt if it cannot be raised, with the reason in
/// `why_not`.
std::optional<ir::Module> raised(const TrailCase&, std::string& why_not);

/// Returns the names of the rules that were applied on the case's path.
std::set<std::string> applied_rules(const TrailCase&);

/// Returns the seeds whose cases fail, out of `count` seeds from `first` on. `jobs` processes try them, and each
/// process ends after `most` failures.
std::vector<std::uint64_t> failing_seeds(std::string_view target, std::uint64_t first, std::uint64_t count,
                                         std::uint64_t jobs, std::size_t most, Draw draw = random_case);

/// Shrinks a failing case: as many choices as possible become options[0], and the extents become the smallest that
/// still fail.
TrailCase shrink(TrailCase);

}  // namespace deplo::rules
