// Models' estimates of schedules that are not built yet, as a starting point for a search.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/compile/kernel_space.h"
#include "engine/learn/recorded.h"
#include "rules/cost/ceilings.h"
#include "search/model/labelled.h"
#include "search/searcher.h"

namespace deplo::engine {

/// Returns the logarithms of the estimated times of a set's candidates. The set has points and analytic estimates
/// (engine/learn/labelled.h), but no times. For ranking: the times of one set can be compared, but their scale means
/// nothing.
using Prior = std::function<std::vector<double>(const search::model::Labelled&)>;
/// Returns the prior of the roofline model (rules/cost/roofline.h).
Prior analytic_prior();
/// The least number of valid trials of a kernel to learn from (label_store()). Each kernel's times are taken relative
/// to their median, and all kernels have the same weight. A kernel with fewer trials would say little but count as
/// much.
inline constexpr std::size_t least_to_learn_from = 20;
/// Returns a prior of boosted trees. For each kernel, they learn from the sets of all other kernels. If there are no
/// other kernels, the prior returns an empty vector.
Prior learned_prior(std::vector<search::model::Labelled> sets, std::uint64_t seed);

/// Returns the prior's times of the heuristic's candidate and of up to `count` random candidates, without duplicates. A
/// candidate takes about 2 ms on one core, mostly for its lowering.
search::SourceTask prior_source(const KernelSpace&, const rules::Ceilings&, std::size_t count, std::uint64_t seed,
                                const Prior&);

/// Returns the record of the heuristic's schedule under the current rules. If that schedule was not measured, or if no
/// rules decide about the kernel, returns the record of the store's first trial, with which tuning began. Returns
/// nullopt if the kernel is imported.
std::optional<std::uint32_t> untuned_record(const StoredSpace&);

/// Returns the space's schedules with the prior's times, computed with the ceilings that the store has for the device.
/// `name` is the prior's name, for tables. Schedules that the rules no longer offer are left out. Returns nullptr if no
/// schedule is left, if the prior has no times, or if the kernel is imported.
std::shared_ptr<const search::Records> prior_records(const StoredSpace&, const Prior&, std::string_view name);

}  // namespace deplo::engine
