// The values that a kernel's inputs have when it is measured.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "ir/program.h"
#include "ir/types/numbers.h"

namespace deplo::measure {

/// Adds a range to each integer input that is used as an index and has no fill. The range is the positions that the
/// clamps around the index and the indexed extents allow. If the input selects the elements to write, its numbers are
/// distinct; if it has more numbers than there are positions, the numbers beyond the extent are padding.
ir::Program with_index_ranges(ir::Program loop);
/// Returns the loop without the fills of its inputs. The text of this loop identifies the kernel in a store.
ir::Program without_fills(ir::Program loop);

/// Files with the values of inputs (measure/check/npy.h), by the buffer's name.
using InputFiles = std::map<std::string, std::string, std::less<>>;

/// Returns the values of buffer `buffer` (an index): those of its file if it has one, else random_input(). Throws Error
/// if the file's shape or values do not fit the buffer.
ir::Numbers input_values(const ir::Program&, std::size_t buffer, std::uint64_t seed, const InputFiles&);

/// Returns a function that computes elements of input_values() in double, from any element on. Elements that are drawn
/// independently are drawn only when they are requested.
std::function<void(std::size_t first, std::span<double>)> input_elements(const ir::Program&, std::size_t buffer,
                                                                         std::uint64_t seed, const InputFiles&);

/// Returns random values for buffer `buffer` (an index) of a problem with this seed; the same on every platform. They
/// are drawn from the buffer's fill if it has one; otherwise floats are drawn from uniform(-1, 1), integers from 0 to
/// 31, and bools from 0 and 1.
ir::Numbers random_input(const ir::Buffer&, std::size_t buffer, std::uint64_t seed);

/// Returns the distribution of an input without a fill, as text.
std::string_view usual_input(ir::DType);

/// Describes the inputs of a loop with index ranges, by name: "i: randint(0, 32000), x: uniform(0, 1)". A file is
/// described by its name and a digest. Inputs without a fill are omitted, and so are uniform(-b, b) and normal(0, b)
/// with b from 0.001 to 1, because times do not depend on them.
std::string describe_inputs(const ir::Program& loop, const InputFiles& = {});

}  // namespace deplo::measure
