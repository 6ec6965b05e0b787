// What the analytic model (measure/roofline.h) says of schedules, as what a search begins from: nothing is built for
// it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "apps/kernel_space.h"
#include "apps/recorded.h"
#include "measure/ceilings.h"
#include "search/searcher.h"

namespace deplo::apps {

/// The model's times of the heuristic's candidate and of `count` drawn ones, each once. A candidate takes about 2 ms of
/// one core, most of it its lowering.
search::Source analytic_source(const KernelSpace&, const measure::Ceilings&, std::size_t count, std::uint64_t seed);

/// The space's schedules with the model's times, under the ceilings that the store has of the device. Left out are
/// those that the rules no longer offer; nullptr where none is left, or the kernel is none of ours (imported).
std::shared_ptr<const search::Records> analytic_records(const StoredSpace&);

}  // namespace deplo::apps
