// The values of a kernel's inputs when it is measured.
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

/// Adds a range to each integer input without a fill whose values are used as an index: the positions that are allowed
/// by the clamps around the index and the extents that it indexes. If the input selects the elements that are written,
/// its numbers are distinct; if it has more numbers than there are positions, those beyond the extent are padding.
ir::Program with_index_ranges(ir::Program loop);
/// The loop without the fills of its inputs. Its text identifies the kernel in a store.
ir::Program without_fills(ir::Program loop);

/// Files with the values of inputs (measure/check/npy.h), by the buffer's name.
using InputFiles = std::map<std::string, std::string, std::less<>>;

/// The values of buffer `buffer` (an index): those of its file if it has one, else random_input(). Throws Error if the
/// file's shape or values do not fit the buffer.
ir::Numbers input_values(const ir::Program&, std::size_t buffer, std::uint64_t seed, const InputFiles&);

/// Computes elements of input_values() in double, from any one on. Elements that are drawn independently are not drawn
/// before they are asked for.
std::function<void(std::size_t first, std::span<double>)> input_elements(const ir::Program&, std::size_t buffer,
                                                                         std::uint64_t seed, const InputFiles&);

/// Random values for buffer `buffer` (an index) of a problem with this seed; the same on every platform. They are drawn
/// from the buffer's fill if it has one, else from uniform(-1, 1); integers from 0 to 31; bool from 0 and 1.
ir::Numbers random_input(const ir::Buffer&, std::size_t buffer, std::uint64_t seed);

/// The distribution of an input without a fill, as text.
std::string_view usual_input(ir::DType);

/// "i: randint(0, 32000), x: uniform(0, 1)": the inputs of a loop with index ranges, by name. A file is described by
/// its name and a digest. Inputs without a fill are left out, and so are uniform(-b, b) and normal(0, b) with b from
/// 0.001 to 1, because times do not depend on them.
std::string describe_inputs(const ir::Program& loop, const InputFiles& = {});

}  // namespace deplo::measure
