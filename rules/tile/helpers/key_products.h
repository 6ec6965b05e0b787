// Finds the two products of an attention, for matrix instructions (ir/hardware/mma.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/target.h"
#include "ir/hardware/mma.h"
#include "rules/tile/helpers/key_sweep.h"

namespace deplo::rules {

/// How products are computed: by each thread alone, or by matrix instructions (ir/hardware/mma.h) of warps or
/// warpgroups.
enum class By : std::uint8_t { threads, warps, warpgroups };
/// Returns the atom that computes scores, or weighted sums, of `columns` columns; nullptr if there is none.
const ir::mma::Atom* atom_of(By, std::int64_t columns);

/// Operands that matrix instructions can multiply. Each score is a sum over `depth` of a row times a key, and the only
/// weight other than 1 is a loaded value. All operands are elements of inputs of one 16-bit type.
struct ProductOperands {
  ir::Load row, key, value;
  ir::Axis depth;
  ir::DType dtype = ir::DType::f16;
};
std::optional<ProductOperands> find_operands(const ir::Program&, const KeySweep&);

/// Returns a slab of keys, or of the weighted values if `weighs`, in the layout that the instructions read. nullopt if
/// the input has no such slab.
std::optional<KeySlab> product_slab(const ir::Program&, const ir::Load&, const Walk& keys, const Walk& columns, By,
                                    bool weighs);
/// Returns a slab of a block's `rows` rows, which `row` counts, along one dimension of an input. nullopt if the rows do
/// not lie along one dimension.
std::optional<KeySlab> row_slab(const ir::Program&, const ir::Load&, const ir::Axis& depth, const ir::Expr& row,
                                std::int64_t rows);

/// Returns in one line why matrix instructions cannot compute both products of chunks of `keys` keys; "" if they can.
std::string products_obstacle(const ir::Program&, const KeySweep&, By, std::int64_t keys, const Target&);

/// Returns whether the rows that are multiplied by the keys can lie in shared memory instead of registers.
bool has_row_slab(const ir::Program&, const KeySweep&);

}  // namespace deplo::rules
