// One way through the rules: a kernel, its extents, a target and the choices, and all that must hold on it. The kernel
// is one of Loop IR, or what a launch of a tile program is raised to, which then must mean what the program does.
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

/// A mistake that is put into a program, to see that it is found.
using Fault = ir::Program (*)(ir::Program);

struct TrailCase {
  std::string kernel, target;
  ir::Symbols symbols;
  Trail wanted = {};        // choices by knob; the others are options[0]
  std::uint64_t seed = 0;   // not 0: choices are drawn …
  std::uint64_t lazy = 0;   // … at this percentage of the forks options[0], at the others all alike
  int tight = 0;            // 1, 2: a device that reports limits which small extents reach
  std::uint64_t types = 0;  // in base 3, the first buffer's the lowest digit: 1, 2 make f32 an f16, a bf16
  bool tf32 = false;        // allowed
  Fault fault = nullptr;    // in the Kernel IR
  std::uint64_t draw = 0;   // of a tile program (tile_case.h): its seed; `kernel` is its kind
  std::uint64_t part = 0;   // and which of the kernels that it is raised to is scheduled
};
std::string describe(const TrailCase&);
ir::Program loop_program(const TrailCase&);

/// Kernel, extents, limits drawn; the work bounded, so that interpreting takes milliseconds.
using Draw = TrailCase (*)(std::string_view target, std::uint64_t seed);
TrailCase random_case(std::string_view target, std::uint64_t seed);
/// The same of tile programs that every clone has (tile_kinds()), and of those of ../shared (shared_tile_kinds()).
TrailCase random_tile_case(std::string_view target, std::uint64_t seed);
TrailCase random_shared_tile_case(std::string_view target, std::uint64_t seed);

/// Lowers the case to source text and interprets each level, in a process of its own: an abort or an endless loop is a
/// failure like another. `trail` is what was chosen up to there, `failure` "" where everything holds.
struct Finding {
  Trail trail;
  std::string failure;
};
Finding attempt(const TrailCase&);

/// The kernels of a case of a tile program; nullopt where it cannot be raised, `why_not` then says it.
std::optional<ir::Module> raised(const TrailCase&, std::string& why_not);

/// Names of the rules that did something on the way.
std::set<std::string> applied_rules(const TrailCase&);

/// Those of `count` seeds from `first` on whose case fails, tried by `jobs` processes. Each ends after `most` of them.
std::vector<std::uint64_t> failing_seeds(std::string_view target, std::uint64_t first, std::uint64_t count,
                                         std::uint64_t jobs, std::size_t most, Draw draw = random_case);

/// The failing case with as many choices as possible left to options[0], on the smallest extents that still fail.
TrailCase shrink(TrailCase);

}  // namespace deplo::rules
