// What a store knows of a kernel elsewhere: the sources of a warm start.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

/// "312 trials of matmul on NVIDIA A100; 90 of another shape, matmul_512, on NVIDIA A100".
std::string describe(const std::vector<WarmSource>&);

}  // namespace deplo::engine
