// Dot products of pairs on CPUs: a reduce loop of Tile IR that is marked `pairs` takes two turns at once, by an instruction
// that adds to each of 16 sums of f32 the products of two neighbours along k, of bf16 (VDPBF16PS of 512 bits: Intel 64 and
// IA-32 Architectures Software Developer's Manual, AVX512_BF16). Its text and its meaning stay those of the loop.
#pragma once
#include <cstdint>
#include <string>

#include "ir/program.h"

namespace deplo::ir::pairs {

inline constexpr int depth = 2, lanes = 16;

/// What a marked loop multiplies: acc <- add(acc, multiply(a, b)). A pair of `a` is one for all lanes and lies in memory
/// side by side; `b` is a Stage whose elements are in pairs.
struct Product {
  const Load *a = nullptr, *b = nullptr;
  std::string acc;
};
/// "" where the loop of the program's Tile is one, with what it multiplies in `product`; else why not, in one line.
/// `staged`: b's Stage has pairs; otherwise it is not looked at how it has its elements.
std::string find_product(const Program&, const Loop&, Product& product, bool staged = true);

}  // namespace deplo::ir::pairs
