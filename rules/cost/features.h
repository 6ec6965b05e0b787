// What can be said of a scheduled kernel without building it: the inputs of the analytic prior (rules/cost/roofline.h) and
// of models that are learned from many kernels.
#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// How often the whole launch executes what: each statement of the Kernel IR times the turns of the loops around it,
/// threads and blocks. Conditions are taken to hold. An instruction of a GPU's thread works on one lane, of a CPU's on
/// up to `vector_lanes`; memory is accessed by vectors on both.
struct Mix {
  double flops = 0;                            // of f32, each lane; fma: 2
  double arithmetic = 0, special = 0;          // instructions; special: division, roots, exp, …
  double tensor_cycles = 0;                    // that warps keep a tensor core busy, shared among their threads
  double loads = 0, stores = 0;                // of global memory
  double shared_loads = 0, shared_stores = 0;  // cp.async is a store, a box of TMA none
  double atomics = 0;                          // additions to global memory: of an element, or of lanes together
  double prefetches = 0, branches = 0;         // ifs and turns of loops
  double barriers = 0;                         // of a thread, the halving of a tree one a step
  double requested_bytes = 0;                  // of global memory, by loads, stores and copies
  double chain = 0;  // of one thread: dependent additions to accumulators, one after the other, all loops in sequence
  // Of a thread of a GPU, where loops are unrolled as they are marked: how often loads of shared and of global memory
  // are waited for, once for all of a straight piece of code, and turns of loops that are left.
  double shared_waits = 0, global_waits = 0, jumps = 0;
  /// Of a thread: 32-bit values alive at once (on CPUs vectors), without addresses and counters.
  double registers = 0;
};
Mix count_mix(const ir::Program& kernel, const Target&);

/// Bytes that come from beyond a cache of so many bytes in the whole launch, in lines of 64 bytes. Loops, the grid and
/// the threads of a CPU are a nest: where one turn of a loop touches no more than the cache holds, the loop loads what
/// it touches once, else each turn loads for itself. Conflicts and sharing between units are not seen. After Wolf and
/// Lam, A data locality optimizing algorithm, PLDI 1991, and McKinley, Carr and Tseng, TOPLAS 18 (1996).
class Traffic {
 public:
  Traffic(const ir::Program& tile, const Target&);
  /// `together`: blocks that run at a time and share the cache, those that follow one another in the grid.
  double through(double cache_bytes, double together = 1) const;

 private:
  struct Nest;
  struct Level {
    double turns = 1, turn_bytes = 0;  // turn_bytes: of all accesses
    double bytes = 0;                  // of this access in all turns
    bool grid = false;                 // an axis of blocks
  };
  struct Access {
    double bytes = 0;           // of the innermost turn
    std::vector<Level> levels;  // from the inside out
  };
  std::vector<Access> accesses_;
};

inline constexpr std::array<double, 3> traffic_caches = {32e3, 1e6, 32e6};  // L1, L2 and last level, by magnitude

struct Features {
  double blocks = 1, threads = 1, lanes = 1;
  double shared_bytes = 0, registers = 0;  // registers: an estimate
  double occupancy = 1;                    // resources.h; 1 on CPUs
  double resident = 1;                     // blocks that a unit runs at a time
  /// Slabs that a block of a GPU waits for, one after the other, and how many further ones are under way meanwhile: 0
  /// where no pipeline is.
  double slabs = 0, ahead = 0;
  double waves = 1, tail = 0;            // full rounds of all units; share of the last round that is idle
  double wavefronts = 0, conflicts = 1;  // of shared memory, the whole launch; over what they are at best. GPUs
  double joined_loads = 0;               // of mix.shared_loads, those that the compiler makes part of a wider one. GPUs
  double compulsory_bytes = 0;           // each buffer once
  double zeroed_bytes = 0;               // of outputs that are added to, before the launch
  std::array<double, traffic_caches.size()> traffic{};
  Mix mix;
};
/// Of a scheduled Tile IR program. Pure.
Features features(const ir::Program& tile, const Target&);

/// For models: log2(1 + x) of what counts, ratios as they are; one number for each name.
std::span<const std::string_view> feature_names();
std::vector<float> feature_vector(const Features&);

}  // namespace deplo::rules
