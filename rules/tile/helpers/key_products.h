// The two products of an attention, for matrix instructions (ir/hardware/mma.h).
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
/// The atom that computes scores, or weighted sums, of `columns` columns. nullptr: there is none.
const ir::mma::Atom* atom_of(By, std::int64_t columns);

/// Operands that matrix instructions can multiply: each score is a sum over `depth` of a row times a key, and the only
/// weight other than 1 is a loaded value. All are elements of inputs of one 16-bit type.
struct ProductOperands {
  ir::Load row, key, value;
  ir::Axis depth;
  ir::DType dtype = ir::DType::f16;
};
std::optional<ProductOperands> find_operands(const ir::Program&, const KeySweep&);

/// A slab of keys, or of the values that are weighted (`weighs`), in the layout that the instructions read. nullopt:
/// the input has no such slab.
std::optional<KeySlab> product_slab(const ir::Program&, const ir::Load&, const Walk& keys, const Walk& columns, By,
                                    bool weighs);
/// A slab of a block's `rows` rows, counted by `row`, along one dimension of an input. nullopt: the rows do not lie so.
std::optional<KeySlab> row_slab(const ir::Program&, const ir::Load&, const ir::Axis& depth, const ir::Expr& row,
                                std::int64_t rows);

/// Why matrix instructions cannot compute both products of chunks of `keys` keys, in one line; "": they can.
std::string products_obstacle(const ir::Program&, const KeySweep&, By, std::int64_t keys, const Target&);

/// Can the rows that are multiplied by the keys lie in shared memory instead of registers?
bool has_row_slab(const ir::Program&, const KeySweep&);

}  // namespace deplo::rules
