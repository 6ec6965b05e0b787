// Inputs whose elements are computed on first access, because a few blocks of a large program read only few of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"

namespace deplo::ir {

/// Computes elements of an input, starting with number `first`. Thread-safe.
using ComputeElements = std::function<void(std::size_t first, std::span<double> elements)>;
/// Returns a function that copies known elements.
ComputeElements copy_of(std::vector<double> elements);

/// An input whose elements are computed on first access. Not thread-safe.
class LazyInput {
 public:
  LazyInput(std::size_t size, ComputeElements compute);
  std::size_t size() const { return size_; }
  double operator[](std::size_t i) {
    if (known_[i / at_once] == 0) compute_part(i / at_once);
    return elements_[i];
  }

 private:
  // Elements computed together; the columns of a block tile are about as many neighbours.
  static constexpr std::size_t at_once = 64;
  void compute_part(std::size_t part);

  std::size_t size_;
  ComputeElements compute_;
  std::unique_ptr<double[]> elements_;  // not initialized, so that pages that are never read take no memory
  std::vector<std::uint8_t> known_;     // one flag for each part
};
using LazyInputs = std::map<std::string, LazyInput, std::less<>>;

/// Like interpret(), with the inputs in `inputs` and the other buffers in `memory`. Elements of 16-bit inputs must
/// already be rounded.
void interpret(const Program&, LazyInputs& inputs, Memory& memory, const Arithmetic&, const Limits& limits = {});

}  // namespace deplo::ir
