// Schedules that were fast elsewhere: of a kernel in a store, the sources of a warm start, and of the other kernels of a
// run.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "search/searcher.h"

namespace deplo::engine {

struct WarmSource {
  std::string kernel, device;  // names, as stored
  double distance = 0;         // of the shapes; 0: the same kernel
  search::SourceTask trials;   // the latest of each trail; two valid times or more
};

/// Of the kernel with this text, on every device of the store; then of the nearest other shapes. At most `most` of the
/// store_keys() (engine/learn/store_keys.h), the nearest first. Throws Error where the file is no store or not there.
std::vector<WarmSource> warm_sources(const std::string& store, const std::string& kernel_text, std::size_t most);

/// The fastest `each` of every source that exist in this space: the fastest of each first, then the second, each once.
std::vector<search::Candidate> fastest(const std::vector<WarmSource>&, const search::Space&, std::size_t each);

/// A schedule that was confirmed to be faster than the heuristic's, and the work of its kernel.
struct Winner {
  Trail trail;
  ir::Work work;
};

/// The winners as schedules of this space, each once and none of them `heuristic`'s, the nearest first: a knob that one
/// of the two decides about and the other does not is as far as e times the work. A choice that is not offered becomes
/// the nearest (trails.h). A winner whose first decision is another, as one of a matmul for a softmax, says nothing here.
std::vector<search::Candidate> replayed(const std::vector<Winner>&, const search::Space&, const Trail& heuristic,
                                        const ir::Work&, std::size_t most);

/// "312 trials of matmul on NVIDIA A100; 90 of another shape, matmul_512, on NVIDIA A100".
std::string describe(const std::vector<WarmSource>&);

}  // namespace deplo::engine
