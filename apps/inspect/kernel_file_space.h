// `deplo space --space FILE`: the configurations of a user's own kernel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/foreign/kernel_file.h"
#include "search/space.h"

namespace deplo::apps {

/// Returns the numbers of legal and of all configurations, and each parameter with its values, the default first.
std::string print_configurations(const engine::foreign::KernelFile&);
std::string print_configurations_json(const engine::foreign::KernelFile&);
/// Draws `wanted` distinct configurations of the space, or fewer if a thousand draws in a row find no new one.
std::vector<search::PositionPtr> draw_configurations(const search::Space&, double wanted, std::uint64_t seed);
/// Returns `count` distinct random legal configurations, or all if there are fewer, one per line.
std::string sample_configurations(const engine::foreign::KernelFile&, std::size_t count, std::uint64_t seed);

}  // namespace deplo::apps
