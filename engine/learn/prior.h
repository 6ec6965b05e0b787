// What models say of schedules before any is built, as what a search begins from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/compile/kernel_space.h"
#include "engine/learn/recorded.h"
#include "rules/cost/ceilings.h"
#include "search/model/labelled.h"
#include "search/searcher.h"

namespace deplo::engine {

/// The logs of the times of a set's candidates, of which it has the points and the analytic model but no times
/// (engine/learn/labelled.h says what they are). For ranks: the times of one set compare, the scale means nothing.
using Prior = std::function<std::vector<double>(const search::model::Labelled&)>;
/// The roofline (rules/cost/roofline.h).
Prior analytic_prior();
/// So many valid trials a kernel must have to be learned from (label_store()). Its times count relative to their own
/// median, and every kernel weighs as much as any other: fewer would say little and be heard all the same.
inline constexpr std::size_t least_to_learn_from = 20;
/// Boosted trees that learned from the sets, those of other kernels than the one they are asked about. Where there are
/// none of those: an empty vector.
Prior learned_prior(std::vector<search::model::Labelled> sets, std::uint64_t seed);

/// The prior's times of the heuristic's candidate and of `count` drawn ones, each once. A candidate takes about 2 ms of
/// one core, mostly for its lowering.
search::SourceTask prior_source(const KernelSpace&, const rules::Ceilings&, std::size_t count, std::uint64_t seed,
                                const Prior&);

/// The space's schedules with the prior's times, under the ceilings that the store has of the device; `name` is the
/// prior's, for tables. Schedules that the rules no longer offer are left out. nullptr if none is left, if the prior has
/// no times, or if the kernel is imported.
std::shared_ptr<const search::Records> prior_records(const StoredSpace&, const Prior&, std::string_view name);

}  // namespace deplo::engine
