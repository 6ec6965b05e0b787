// Turns stores and recorded spaces into training sets for a model of many kernels.
#pragma once
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "rules/cost/roofline.h"
#include "rules/lower.h"
#include "search/model/labelled.h"
#include "search/records/records.h"

namespace deplo::engine {

/// Returns a set without points, for the features of schedules.
search::model::Labelled empty_set(const std::string& kernel, const std::string& device = "");
/// Adds the features of a schedule (rules::feature_vector()) and the estimate of the analytic model
/// (rules::roofline_us()), but no time.
void add_point(search::model::Labelled&, const rules::Lowering&, const rules::Ceilings&);

/// Returns one set for each of the store_keys() (engine/learn/store_keys.h). A set has the latest valid trial of each
/// trail, but at most `max_trials` trials, evenly spaced among all of them. The ceilings are those that the store has
/// for the device. Trails that no longer fit, sets of fewer than `min_records` records, and imported kernels are left
/// out. Throws Error if the store cannot be read.
std::vector<search::model::Labelled> label_store(const std::string& file, std::size_t min_records,
                                                 std::size_t max_trials = std::numeric_limits<std::size_t>::max());

/// Returns one set of the valid records, or no set if there are fewer than `min_records`. A point has a number for each
/// knob: log2 of its value; the value itself if some value of the knob is not positive; or the option's index if some
/// value is text. A point also has the sum and the difference of these numbers for each pair of numeric knobs. There is
/// no analytic model. If the objective is not time, its label follows the kernel's name.
std::vector<search::model::Labelled> label_records(const search::Records&, std::size_t min_records);

/// Returns the points as a CSV table for other programs. Columns: kernel, device, time in µs, the analytic model's time
/// in µs, and one for each feature. Only for sets from a store.
std::string print_points(const std::vector<search::model::Labelled>&);

}  // namespace deplo::engine
