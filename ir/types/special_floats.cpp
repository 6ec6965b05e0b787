#include "ir/types/special_floats.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/error.h"

namespace deplo::ir {
namespace {

/// Counts the NaNs among the elements. `infinity`: the bits of positive infinity; all greater magnitudes are NaNs.
///
/// The inner loop has a constant length, and its counters have the width of an element, because g++ -O2 vectorises only
/// such loops.
template <class Word>
SpecialFloats count(std::span<const std::uint8_t> elements, Word infinity) {
  constexpr std::size_t at_once = 1024;
  static_assert(at_once <= std::numeric_limits<Word>::max());
  constexpr Word all_ones = std::numeric_limits<Word>::max(), magnitude = all_ones >> 1;
  using Signed = std::make_signed_t<Word>;  // SSE2 cannot compare unsigned integers
  SpecialFloats found;
  const std::size_t size = elements.size() / sizeof(Word);
  for (std::size_t first = 0; first < size; first += at_once) {
    Word words[at_once] = {};  // the last chunk is padded with zeros, which are not NaNs
    std::memcpy(words, elements.data() + first * sizeof(Word), std::min(size - first, at_once) * sizeof(Word));
    Word nans = 0, ones = 0;
    for (const Word word : words) {
      nans += static_cast<Word>(static_cast<Signed>(word & magnitude) > static_cast<Signed>(infinity));
      ones += static_cast<Word>(word == all_ones);
    }
    found.nans += nans;
    found.all_ones += ones;
  }
  return found;
}

}  // namespace

SpecialFloats count_special_floats(std::span<const std::uint8_t> elements, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return count<std::uint16_t>(elements, 0x7c00);
    case DType::bf16:
      return count<std::uint16_t>(elements, 0x7f80);
    case DType::f32:
      return count<std::uint32_t>(elements, 0x7f800000);
    case DType::f64:
      return count<std::uint64_t>(elements, 0x7ff0000000000000);
    default:
      check_failed("the type has NaNs", __FILE__, __LINE__);
  }
}

}  // namespace deplo::ir
