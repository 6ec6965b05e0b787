// The default of Device::chain: launches the kernels one after the other and adds their times.
#include <utility>

#include "measure/device.h"

namespace deplo::measure {
namespace {

class Chain final : public Executable {
 public:
  explicit Chain(std::vector<ChainLink> links) : links_(std::move(links)) {}

  Result<double> launch(Arrays& arrays, std::int64_t) override {
    double sum = 0;
    for (const ChainLink& link : links_) {
      const auto seen = arrays.view(link.places, link.as);
      auto time = link.executable->launch(*seen, link.blocks);
      if (!time.ok()) return time;
      sum += time.value();
    }
    return sum;
  }

 private:
  std::vector<ChainLink> links_;
};

}  // namespace

std::unique_ptr<Executable> Device::chain(std::vector<ChainLink> links) {
  return std::make_unique<Chain>(std::move(links));
}

}  // namespace deplo::measure
