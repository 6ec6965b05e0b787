#include "rules/blocks/dealing.h"

namespace deplo::rules::blocks {
namespace {

namespace tp = ir::tile_program;

/// The matrix instruction for factors of this type, with f32 sums that may be rounded afterwards; nullptr if there is
/// none.
const ir::mma::Atom* atom_of(ir::DType factors) {
  if (ir::is_float16(factors)) return ir::mma::find_atom("m16n8k16");
  return factors == ir::DType::tf32 ? ir::mma::find_atom("m16n8k8_tf32") : nullptr;
}

}  // namespace

std::optional<Warps> warps_of(const tp::Entry& entry, const tp::Operation& product, std::int64_t threads,
                              const Target& target) {
  if (!target.mma || product.form->name != "mmaf" || threads % ir::gpu::warp != 0) return std::nullopt;
  const tp::Type &lhs = *entry.values[product.operands[0]].type, &rhs = *entry.values[product.operands[1]].type,
                 &sums = *entry.values[product.results[0]].type;
  const ir::mma::Atom* const atom = atom_of(lhs.element);
  const bool narrow = sums.element == ir::DType::f32 || sums.element == ir::DType::f16;
  if (atom == nullptr || lhs.element != rhs.element || !narrow || sums.shape.size() != 2) return std::nullopt;
  if (sums.shape[0] % atom->m != 0 || sums.shape[1] % atom->n != 0 || lhs.shape[1] % atom->k != 0) return std::nullopt;
  constexpr std::int64_t max_atoms = 16;  // per warp: 64 sums per thread
  const std::int64_t rows = sums.shape[0] / atom->m, columns = sums.shape[1] / atom->n, warps = threads / ir::gpu::warp;
  // Prefers a shape of a warp's sums that is as square as possible, because it needs the fewest elements of the
  // factors.
  for (Warps found{atom, 1, 0, 0}; found.across <= warps; found.across *= 2) {
    const std::int64_t down = warps / found.across;
    if (columns % found.across != 0 || rows % down != 0) continue;
    found.rows = rows / down;
    found.columns = columns / found.across;
    if (found.columns * atom->n > 2 * found.rows * atom->m && found.across < warps &&
        columns % (2 * found.across) == 0 && rows % (down / 2) == 0)
      continue;
    if (found.rows * found.columns <= max_atoms) return found;
  }
  return std::nullopt;
}

}  // namespace deplo::rules::blocks
