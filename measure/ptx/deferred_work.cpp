#include "measure/ptx/deferred_work.h"

#include <utility>

#include "measure/ptx/warp/place.h"
#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {

void DeferredWork::Work::done() const {
  try {
    run();
  } catch (const Finding& finding) {
    throw placed(finding, *warp, at);
  }
}

DeferredWork::Work DeferredWork::take(Rng& rng) {
  const std::size_t which = rng.below(all_.size());
  Work work = std::move(all_[which]);
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(which));
  return work;
}

void DeferredWork::check_done(const Cluster& cluster) const {
  for (const Work& work : all_)
    if (&work.warp->block().cluster() == &cluster)
      throw placed(Finding("the block ends before this copy is done"), *work.warp, work.at);
}

}  // namespace deplo::measure::ptx
