#include "engine/compile/plan.h"

#include <algorithm>
#include <set>

namespace deplo::engine {
namespace {

class Planner {
 public:
  explicit Planner(const ir::Module& module) : module_(module) {}

  Plan run() {
    const std::set<std::string, std::less<>> outputs(module_.outputs.begin(), module_.outputs.end());
    for (const ir::Tensor& tensor : module_.tensors) {
      tensors_[tensor.name] = &tensor;
      if (tensor.part_of.empty() && (tensor.kind != ir::Tensor::Kind::computed || outputs.contains(tensor.name)))
        place(tensor.name, add_slot(slot_bytes(tensor.type)));
    }
    find_last_uses();
    for (std::size_t k = 0; k < module_.kernels.size(); ++k) run_kernel(k);
    for (const ir::Tensor& tensor : module_.tensors)
      if (!tensor.part_of.empty()) place_part(tensor);
    return std::move(plan_);
  }

 private:
  std::size_t add_slot(std::int64_t bytes) {
    plan_.slots.push_back(bytes);
    return plan_.slots.size() - 1;
  }
  void place(const std::string& tensor, std::size_t slot) { plan_.placement.emplace(tensor, measure::Place{slot}); }

  const ir::Tensor& find(const std::string& name) const {
    const auto found = tensors_.find(name);
    CHECK(found != tensors_.end());
    return *found->second;
  }
  /// Returns the tensor that has memory of its own and contains the tensor `name`.
  const ir::Tensor& whole(const std::string& name) const {
    const ir::Tensor* tensor = &find(name);
    while (!tensor->part_of.empty()) tensor = &find(tensor->part_of);
    return *tensor;
  }
  void place_part(const ir::Tensor& part) {
    std::int64_t offset = 0;
    for (const ir::Tensor* tensor = &part; !tensor->part_of.empty(); tensor = &find(tensor->part_of))
      offset += tensor->offset;
    if (const auto slot = plan_.placement.find(whole(part.name).name); slot != plan_.placement.end())
      plan_.placement.emplace(part.name, measure::Place{slot->second.buffer, offset});
  }

  void find_last_uses() {
    for (std::size_t k = 0; k < module_.kernels.size(); ++k)
      for (const ir::Buffer& buffer : module_.kernels[k].buffers)
        if (const std::string& name = whole(buffer.name).name; !plan_.placement.contains(name)) last_use_[name] = k;
    for (const auto& [tensor, last] : last_use_) ends_[last].push_back(tensor);
  }

  void run_kernel(std::size_t k) {
    for (const ir::Buffer& buffer : module_.kernels[k].buffers)
      if (const ir::Tensor& tensor = whole(buffer.name); !plan_.placement.contains(tensor.name))
        place(tensor.name, take(slot_bytes(tensor.type)));
    // Slots are freed only after all of the kernel's buffers are placed: a kernel must not write where it reads.
    for (const std::string& tensor : ends_[k]) free_.push_back(plan_.placement.at(tensor).buffer);
  }

  std::size_t take(std::int64_t bytes) {
    if (free_.empty()) return add_slot(bytes);
    const auto size = [&](std::size_t slot) { return plan_.slots[slot]; };
    const auto better = [&](std::size_t a, std::size_t b) {
      const bool fits = size(a) >= bytes;
      if (fits != (size(b) >= bytes)) return fits;
      return fits ? size(a) < size(b) : size(a) > size(b);
    };
    const auto best = std::min_element(free_.begin(), free_.end(), better);
    const std::size_t slot = *best;
    free_.erase(best);
    plan_.slots[slot] = std::max(plan_.slots[slot], bytes);
    return slot;
  }

  const ir::Module& module_;
  Plan plan_;
  std::map<std::string, const ir::Tensor*, std::less<>> tensors_;
  std::map<std::string, std::size_t, std::less<>> last_use_;  // computed tensor → the last kernel that uses it
  std::map<std::size_t, std::vector<std::string>> ends_;      // kernel → the tensors whose last use is in this kernel
  std::vector<std::size_t> free_;
};

}  // namespace

std::int64_t slot_bytes(const ir::TensorType& type) {
  const std::int64_t bytes = ir::element_count(type.shape) * ir::bytes(type.dtype);
  return std::max<std::int64_t>(4, (bytes + 3) / 4 * 4);
}

double Plan::bytes() const {
  double sum = 0;
  for (const std::int64_t slot : slots) sum += static_cast<double>(slot);
  return sum;
}

Plan plan_buffers(const ir::Module& module) { return Planner(module).run(); }

}  // namespace deplo::engine
