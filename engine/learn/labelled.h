// Stores and recorded spaces as what a model of many kernels learns from.
#pragma once
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "search/model/labelled.h"
#include "search/records/records.h"

namespace deplo::engine {

/// One for each of the store_keys() (engine/learn/store_keys.h) of a kernel of ours: the latest valid trial of each trail.
/// Points are rules::feature_vector(), the analytic model is measure::roofline_us() under the ceilings that the store
/// has of the device. Trails that no longer fit are left out; so are sets of fewer than `least` records, and kernels
/// that were imported. Of each at most `most`, evenly over those that there are. Throws Error.
std::vector<search::model::Labelled> label_store(const std::string& file, std::size_t least,
                                                 std::size_t most = std::numeric_limits<std::size_t>::max());

/// The valid records, where there are `least` of them or more. Points: of each knob the log2 of its value (where one is
/// not positive: the values themselves; of text: its number), of each pair of numeric ones sum and difference of these.
/// No analytic model. The kernel of another objective than time has that one's label behind its name.
std::vector<search::model::Labelled> label_records(const search::Records&, std::size_t least);

/// The points as a table for other programs: kernel, device, µs, what the analytic model says, and each feature by its
/// name. Sets of a store only.
std::string print_points(const std::vector<search::model::Labelled>&);

}  // namespace deplo::engine
