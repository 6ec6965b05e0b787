// The two products of an attention, as matrix instructions make them (ir/hardware/mma.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/target.h"
#include "ir/hardware/mma.h"
#include "rules/tile/helpers/key_sweep.h"

namespace deplo::rules {

/// Who multiplies: each thread for itself, or matrix instructions (ir/hardware/mma.h) of warps or of warpgroups.
enum class By : std::uint8_t { threads, warps, warpgroups };
/// Of the sums of scores, or of what they weigh, over so many columns; nullptr: there is none.
const ir::mma::Atom* atom_of(By, std::int64_t columns);

/// What matrix instructions may multiply: scores are sums over `depth` of a row times a key, and weights one value each;
/// all are elements of inputs of one 16-bit type.
struct ProductOperands {
  ir::Load row, key, value;
  ir::Axis depth;
  ir::DType dtype = ir::DType::f16;
};
std::optional<ProductOperands> find_operands(const ir::Program&, const KeySweep&);

/// A slab of keys, or of the values that they weigh, as the instructions read it; nullopt: it cannot be.
std::optional<KeySlab> product_slab(const ir::Program&, const ir::Load&, const Walk& keys, const Walk& columns, By,
                                    bool weighs);
/// A slab of `rows` rows of a block, which `row` counts, along one dimension of an input; nullopt: they lie otherwise.
std::optional<KeySlab> row_slab(const ir::Program&, const ir::Load&, const ir::Axis& depth, const ir::Expr& row,
                                std::int64_t rows);

/// Why matrix instructions cannot make both products of chunks of so many keys, in one line; "": they can.
std::string products_obstacle(const ir::Program&, const KeySweep&, By, std::int64_t keys, const Target&);

/// May the rows that are multiplied by keys lie in shared memory, too?
bool has_row_slab(const ir::Program&, const KeySweep&);

}  // namespace deplo::rules
