// Inputs whose elements are computed when they are first read: a few blocks of a large program read few of them.
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

/// Computes the elements of an input from `first` on. Thread-safe.
using ComputeElements = std::function<void(std::size_t first, std::span<double> elements)>;
/// For elements that are known.
ComputeElements copy_of(std::vector<double> elements);

/// Not thread-safe.
class LazyInput {
 public:
  LazyInput(std::size_t size, ComputeElements compute);
  std::size_t size() const { return size_; }
  double operator[](std::size_t i) {
    if (known_[i / at_once] == 0) compute_part(i / at_once);
    return elements_[i];
  }

 private:
  static constexpr std::size_t at_once = 64;  // elements; the columns of a block tile are about as many neighbours
  void compute_part(std::size_t part);

  std::size_t size_;
  ComputeElements compute_;
  std::unique_ptr<double[]> elements_;  // not initialized, so that pages that nothing reads take no memory
  std::vector<std::uint8_t> known_;     // of each part
};
using LazyInputs = std::map<std::string, LazyInput, std::less<>>;

/// interpret() with the inputs in `inputs`, whose elements of 16 bits must be rounded, and the other buffers in
/// `memory`.
void interpret(const Program&, LazyInputs& inputs, Memory& memory, const Arithmetic&, const Limits& limits = {});

}  // namespace deplo::ir
