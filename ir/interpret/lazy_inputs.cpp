#include "ir/interpret/lazy_inputs.h"

#include <algorithm>
#include <utility>

namespace deplo::ir {

ComputeElements copy_of(std::vector<double> elements) {
  return [known = std::make_shared<const std::vector<double>>(std::move(elements))](std::size_t first,
                                                                                    std::span<double> to) {
    std::ranges::copy(std::span(*known).subspan(first, to.size()), to.begin());
  };
}

LazyInput::LazyInput(std::size_t size, ComputeElements compute)
    : size_(size),
      compute_(std::move(compute)),
      elements_(std::make_unique_for_overwrite<double[]>(size)),
      known_((size + at_once - 1) / at_once) {}

void LazyInput::compute_part(std::size_t part) {
  const std::size_t first = part * at_once;
  compute_(first, {elements_.get() + first, std::min(at_once, size_ - first)});
  known_[part] = 1;
}

}  // namespace deplo::ir
