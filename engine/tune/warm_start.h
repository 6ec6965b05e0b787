// Schedules that were fast elsewhere: schedules of a store's kernels, for a warm start, and of the run's other kernels.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "ir/program.h"
#include "search/searcher.h"

namespace deplo::engine {

struct WarmSource {
  std::string kernel, device;  // names, as stored
  double distance = 0;         // between the shapes; 0: the same kernel
  search::SourceTask trials;   // the latest trial of each trail; at least two of the times are valid
};

/// Returns the sources for the kernel with this text: the same kernel on every device of the store, then the nearest
/// other shapes. Returns at most `limit` of the store_keys() (engine/learn/store_keys.h), nearest first. Throws Error
/// if the file does not exist or is not a store.
std::vector<WarmSource> warm_sources(const std::string& store, const std::string& kernel_text, std::size_t limit);

/// Returns the `per_source` fastest schedules of every source that exist in this space, without duplicates: first the
/// fastest of each source, then the second fastest, and so on.
std::vector<search::Candidate> fastest(const std::vector<WarmSource>&, const search::Space&, std::size_t per_source);

/// A schedule that won over the heuristic's in confirmation, and the work of its kernel.
struct Winner {
  Trail trail;
  ir::Work work;
};

/// Returns at most `limit` winners as schedules of this space, nearest first, without duplicates and without the
/// schedule `heuristic`. The distance of two kernels grows with the ratio of their work. Each knob that is only in the
/// winner's trail or only in `heuristic` adds as much as a factor of e in work. A choice that is not offered becomes
/// the nearest offered one (trails.h). A winner whose first decision is about another knob is left out, for example a
/// matmul's winner for a softmax.
std::vector<search::Candidate> replayed(const std::vector<Winner>&, const search::Space&, const Trail& heuristic,
                                        const ir::Work&, std::size_t limit);

/// Returns a text such as "312 trials of matmul on NVIDIA A100; 90 trials of matmul_512 in another shape on NVIDIA
/// A100".
std::string describe(const std::vector<WarmSource>&);

}  // namespace deplo::engine
