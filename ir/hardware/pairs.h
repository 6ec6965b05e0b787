// Dot products of pairs on CPUs: a reduce loop of Tile IR that is marked `pairs` takes two turns at once, by an
// instruction that adds to each of 16 sums of f32 the products of two neighbours along k, of bf16 (VDPBF16PS of 512 bits:
// Intel 64 and IA-32 Architectures Software Developer's Manual, AVX512_BF16). Its text and its meaning stay those of the
// loop.
#pragma once
#include <cstdint>
#include <string>

#include "ir/program.h"

namespace deplo::ir::pairs {

inline constexpr int depth = 2, lanes = 16;

/// Lie the rows of a slab along the rows of its source? Then two of them are copied at once, in vectors; else the source
/// has the pairs side by side.
bool along_rows(const Stage&, const Buffer& source);
/// "" where the elements of such a Stage can lie in pairs, or why not; whatever its lanes are.
std::string fault(const Stage&, const Buffer& source);

/// What a marked loop multiplies: acc <- add(acc, multiply(a, b)). A pair of `a` is one for all lanes and lies in memory
/// side by side; the rows of `b` walk k.
struct Product {
  const Load *a = nullptr, *b = nullptr;
  std::string acc;
};
/// "" where the loop of the program's Tile is one by its form, with what it multiplies in `product`; else why not.
std::string find_product(const Program&, const Loop&, Product& product);
/// "" where memory has its operands as the instruction takes them: `b` a Stage in pairs, `a` of bf16 in rows; or why not.
std::string fault(const Program&, const Product&);

}  // namespace deplo::ir::pairs
