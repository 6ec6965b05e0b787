// What the inputs of a kernel are filled with when it is measured.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ir/numbers.h"
#include "ir/program.h"

namespace deplo::measure {

/// The loop with a range for each integer input that has none and is read as an index: the positions that the clamps
/// around it and the extents of what it points into allow. Of one that chooses which elements are written no number
/// comes twice; those beyond the extent, if it has more numbers than there are positions, are padding.
ir::Program with_index_ranges(ir::Program loop);
/// The loop without what its inputs are drawn from: the text by which a store knows it.
ir::Program without_fills(ir::Program loop);

/// Files with the values of inputs (measure/check/npy.h), by the buffer's name.
using InputFiles = std::map<std::string, std::string, std::less<>>;

/// The values of buffer number `buffer`: of its file, else random_input. Throws Error where the file is not as it.
ir::Numbers input_values(const ir::Program&, std::size_t buffer, std::uint64_t seed, const InputFiles&);

/// Numbers for buffer number `buffer` of a problem with this seed, the same on every platform: what the buffer says,
/// else uniform(-1, 1), whole from 0 to 31 for integers, 0 or 1 for bool.
ir::Numbers random_input(const ir::Buffer&, std::size_t buffer, std::uint64_t seed);

/// What an input that says nothing is drawn from, as text.
std::string_view usual_input(ir::DType);

/// "i: randint(0, 32000), x: uniform(0, 1)": the inputs of a loop with index ranges, by name; of a file its name and a
/// digest. Without those that are
/// unsaid or reals about 0, uniform(-b, b) and normal(0, b) with b from 0.001 to 1: times under these compare.
std::string describe_inputs(const ir::Program& loop, const InputFiles& = {});

}  // namespace deplo::measure
