#include "rules/blocks/waits.h"

#include <algorithm>

namespace deplo::rules::blocks {

Resources ResourceNumbers::all_memory() const {
  Resources all;
  for (Resource r = first_array_; r <= allocas(); ++r) all.insert(r);
  return all;
}

void Waits::Accesses::join(const Accesses& other) {
  read.insert(other.read.begin(), other.read.end());
  written.insert(other.written.begin(), other.written.end());
}

void Waits::barrier() {
  since = {};
  if (code_.threads > 1) code_.add(ir::Sync{});
}

void Waits::order(const Resources& reads, const Resources& writes) {
  const auto meet = [](const Resources& a, const Resources& b) {
    return std::any_of(a.begin(), a.end(), [&](Resource r) { return b.contains(r); });
  };
  if (meet(reads, since.written) || meet(writes, since.read) || meet(writes, since.written)) barrier();
  since.join({reads, writes});
}

}  // namespace deplo::rules::blocks
