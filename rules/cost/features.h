// Properties of a scheduled kernel that are known without building it. They are the inputs of the analytic prior
// (rules/cost/roofline.h) and of models that learn from many kernels.
#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// Returns about how many exponentials take as long as the operation does on a CPU; 0 if the operation is not a
/// function but one or a few instructions.
int exponentials(ir::Op);

/// How often the whole launch executes each kind of operation: each statement of the Kernel IR times the iterations of
/// the loops around it, the threads and the blocks. A statement under a condition counts for the share of iterations at
/// which the condition holds (share_that_holds). An instruction works on one lane on GPUs, and on up to `vector_lanes`
/// on CPUs; memory is accessed by vectors on both.
struct Mix {
  double flops = 0;                    // f32 operations, counted per lane; an fma counts as 2
  double arithmetic = 0, special = 0;  // instructions; special: division, roots, exp, …
  double tensor_cycles = 0;            // cycles for which warps keep a tensor core busy, divided among their threads
  double loads = 0, stores = 0;        // of global memory
  double shared_loads = 0, shared_stores = 0;  // cp.async counts as a store, a box of TMA as none
  double atomics = 0;                          // additions to global memory, of one element or of several lanes at once
  double prefetches = 0, branches = 0;         // branches: ifs and loop iterations
  double barriers = 0;                         // per thread; a tree reduction counts one per step
  double requested_bytes = 0;                  // bytes of global memory, by loads, stores and copies
  double chain = 0;  // per thread: dependent additions to accumulators, one after the other, all loops in sequence
  // Per thread of a GPU, with loops unrolled as marked. waits: how often the thread waits for loads of shared or global
  // memory, once for each straight-line piece of code. jumps: loop iterations that remain after unrolling.
  double shared_waits = 0, global_waits = 0, jumps = 0;
  /// Per thread: the greatest number of 32-bit values (on CPUs: vectors) that are live at once, without addresses and
  /// counters.
  double registers = 0;
};
Mix count_mix(const ir::Program& kernel, const Target&);

/// The bytes that the whole launch moves from beyond a cache, in lines of 64 bytes. Loops, the grid and the threads of
/// a CPU form a nest. If one iteration of a loop touches no more than the cache holds, the loop loads what it touches
/// once; otherwise each iteration loads again. Cache conflicts and sharing between units are ignored. After Wolf and
/// Lam, A data locality optimizing algorithm, PLDI 1991, and McKinley, Carr and Tseng, TOPLAS 18 (1996).
class Traffic {
 public:
  Traffic(const ir::Program& tile, const Target&);
  /// `cache_bytes`: the size of the cache. `together`: the number of consecutive blocks of the grid that run at the
  /// same time and share the cache.
  double through(double cache_bytes, double together = 1) const;

 private:
  struct Nest;
  struct Level {
    double turns = 1, turn_bytes = 0;  // turn_bytes: bytes that all accesses touch in one iteration
    double bytes = 0;                  // bytes of this access in all iterations
    bool grid = false;                 // whether the level is an axis of blocks
  };
  struct Access {
    double bytes = 0;           // bytes of the innermost iteration
    std::vector<Level> levels;  // innermost first
  };
  std::vector<Access> accesses_;
};

inline constexpr std::array<double, 3> traffic_caches = {32e3, 1e6, 32e6};  // L1, L2 and last level: typical sizes

struct Features {
  double blocks = 1, threads = 1, lanes = 1;
  double shared_bytes = 0, registers = 0;  // registers: an estimate
  double occupancy = 1;                    // see resources.h; 1 on CPUs
  double resident = 1;                     // blocks that a unit runs at a time
  /// slabs: how many slabs a block of a GPU waits for, one after the other. ahead: how many further slabs are in flight
  /// meanwhile; 0 without a pipeline.
  double slabs = 0, ahead = 0;
  // Rounds of blocks on all units; fraction of these rounds that is idle because the last one is not full.
  double waves = 1, tail = 0;
  double wavefronts = 0, conflicts = 1;  // GPUs: of shared memory in the whole launch; relative to the least possible
  double joined_loads = 0;               // GPUs: those of mix.shared_loads that the compiler merges into wider ones
  double compulsory_bytes = 0;           // each buffer counted once
  double zeroed_bytes = 0;               // bytes of outputs that are added to, which are zeroed before the launch
  std::array<double, traffic_caches.size()> traffic{};
  Mix mix;
};
/// Returns the features of `tile`, a scheduled Tile IR program. A pure function.
Features features(const ir::Program& tile, const Target&);

/// The features as inputs of models, one number for each name: log2(1 + x) for a count x, log2 of the quotient for two
/// counts. Occupancy, tail and conflicts are unchanged.
std::span<const std::string_view> feature_names();
std::vector<float> feature_vector(const Features&);

}  // namespace deplo::rules
