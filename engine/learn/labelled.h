// Turns stores and recorded spaces into training sets for a model of many kernels.
#pragma once
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "search/model/labelled.h"
#include "search/records/records.h"

namespace deplo::engine {

/// One set for each of the store_keys() (engine/learn/store_keys.h): the latest valid trial of each trail. Points are
/// rules::feature_vector(); the analytic model is rules::roofline_us() with the ceilings that the store has for the device.
/// Left out are trails that no longer fit, sets of fewer than `least` records, and imported kernels. Each set takes at most
/// `most` trials, evenly spaced among all. Throws Error.
std::vector<search::model::Labelled> label_store(const std::string& file, std::size_t least,
                                                 std::size_t most = std::numeric_limits<std::size_t>::max());

/// One set of the valid records, if there are at least `least`. A point has for each knob log2 of its value; the value
/// itself if some value of the knob is not positive; the option's number if some value is text. It also has the sum and the
/// difference of these for each pair of numeric knobs. There is no analytic model. If the objective is not time, its label
/// follows the kernel's name.
std::vector<search::model::Labelled> label_records(const search::Records&, std::size_t least);

/// The points as a CSV table for other programs: kernel, device, µs, the analytic model's µs, and each feature by its name.
/// Only for sets from a store.
std::string print_points(const std::vector<search::model::Labelled>&);

}  // namespace deplo::engine
