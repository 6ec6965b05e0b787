// Dot products of pairs on CPUs. A reduce loop of Tile IR that is marked `pairs` executes two iterations at once. An
// instruction adds the products of two bf16 neighbours along k to each of 16 sums of f32 (VDPBF16PS of 512 bits: Intel
// 64 and IA-32 Architectures Software Developer's Manual, AVX512_BF16). The loop keeps its text and its meaning.
#pragma once
#include <string>

#include "ir/program.h"

namespace deplo::ir::pairs {

inline constexpr int depth = 2, lanes = 16;

/// Whether the rows of a slab run along the rows of its source. If so, two rows are copied at once, in vectors;
/// otherwise the elements of a pair are adjacent in the source.
bool along_rows(const Stage&, const Buffer& source);
/// Returns "" if the Stage can store its elements in pairs, else the reason. The result does not depend on the Stage's
/// lanes.
std::string fault(const Stage&, const Buffer& source);

/// The product of a marked loop: acc <- add(acc, multiply(a, b)). A pair of `a` is the same for all lanes, and adjacent
/// in memory. The rows of `b` run along k.
struct Product {
  const Load *a = nullptr, *b = nullptr;
  std::string acc;
};
/// Analyses a loop of the program's Tile. If it has the form of a Product, sets `product` and returns ""; else returns
/// the reason.
std::string find_product(const Program&, const Loop&, Product& product);
/// Returns "" if the operands are in memory as the instruction takes them: `b` in a Stage in pairs, `a` as bf16 in
/// rows; else the reason.
std::string fault(const Program&, const Product&);

}  // namespace deplo::ir::pairs
