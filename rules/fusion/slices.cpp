//   y5[a0, a1] = tanh(x[(a0 + 20), a1])   →   y5[a0, a1] = tanh(x_at_2560[a0, a1])   (x_at_2560: x from byte 2560 on)
// So the kernels of steps 4 and 5 are equal, and the kernel is built, tuned and stored once.
#include "rules/fusion/slices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/canonical/canonical.h"
#include "ir/walk.h"
#include "rules/fusion/stacks.h"

namespace deplo::rules::fusion {
namespace {

/// If fewer kernels would become equal, they stay as they are: they belong to a model's layers, and stores already have
/// them.
constexpr std::size_t fewest_steps = 8;

/// The range of elements that a kernel reads from a buffer, in each dimension.
using Box = std::vector<ir::Interval>;
using Boxes = std::map<std::string, std::optional<Box>>;  // key: buffer; nullopt: a loaded value chooses the element

void include(Boxes& boxes, const ir::Load& load, const ir::Ranges& ranges) {
  Box box;
  for (const ir::Expr& e : load.index) {
    const auto found = ir::bounds(e, ranges);
    if (!found) {
      boxes[load.buffer] = std::nullopt;
      return;
    }
    box.push_back(*found);
  }
  const auto [known, is_new] = boxes.try_emplace(load.buffer, box);
  if (is_new || !known->second) return;
  for (std::size_t d = 0; d < box.size(); ++d) {
    ir::Interval& all = (*known->second)[d];
    all = {std::min(all.low, box[d].low), std::max(all.high, box[d].high)};
  }
}

void find_boxes(const ir::Body& body, ir::Ranges& ranges, Boxes& boxes) {
  for (const ir::Stmt& stmt : body) {
    if (const auto* load = stmt.as<ir::Load>()) include(boxes, *load, ranges);
    const auto* loop = stmt.as<ir::Loop>();
    if (loop != nullptr) ranges.emplace_back(loop->axis.name, ir::Interval{0, loop->axis.extent - 1});
    if (const ir::Body* inner = ir::inner_body(stmt)) find_boxes(*inner, ranges, boxes);
    if (loop != nullptr) ranges.pop_back();
  }
}

/// A slice of a buffer that becomes a buffer of its own.
struct Slice {
  ir::Buffer buffer;
  std::string of;
  Box box;
  std::int64_t offset = 0;  // bytes
};

class Slicer {
 public:
  Slicer(ir::Module& module, const Target& target) : module_(module), alignment_(part_alignment(target)) {
    for (const ir::Tensor& tensor : module.tensors) names_.insert(tensor.name);
  }

  void run() {
    struct Step {
      std::size_t kernel;
      std::vector<Slice> slices;
      std::string before;
    };
    std::map<std::string, std::vector<Step>> steps;  // by the text of the kernel with slices
    for (std::size_t k = 0; k < module_.kernels.size(); ++k) {
      std::vector<Slice> slices = slices_of(module_.kernels[k]);
      if (slices.empty()) continue;
      const std::string text = print(ir::canonical(sliced(module_.kernels[k], slices)).program);
      steps[text].push_back({k, std::move(slices), print(ir::canonical(module_.kernels[k]).program)});
    }
    for (const auto& [text, equal] : steps) {
      std::set<std::string_view> before;
      for (const Step& step : equal) before.insert(step.before);
      if (before.size() < fewest_steps) continue;
      for (const Step& step : equal) {
        std::vector<Slice> slices = step.slices;
        for (Slice& slice : slices) slice.buffer.name = tensor_of(slice);
        module_.kernels[step.kernel] = sliced(module_.kernels[step.kernel], slices);
      }
    }
  }

 private:
  std::vector<Slice> slices_of(const ir::Program& kernel) const {
    Boxes boxes;
    ir::Ranges ranges;
    find_boxes(kernel.body, ranges, boxes);
    std::vector<Slice> slices;
    for (const ir::Buffer& buffer : kernel.buffers)
      if (const auto box = boxes.find(buffer.name); buffer.role == ir::Role::input && box != boxes.end() && box->second)
        if (auto slice = slice_of(buffer, *box->second)) slices.push_back(std::move(*slice));
    return slices;
  }

  /// Returns nullopt if the kernel reads the whole buffer, or if the slice cannot be an argument.
  std::optional<Slice> slice_of(const ir::Buffer& buffer, const Box& box) const {
    Slice slice{buffer, buffer.name, box, 0};
    for (std::size_t d = 0; d < box.size(); ++d) {
      if (box[d].low < 0 || box[d].high >= buffer.shape[d]) return std::nullopt;  // the load is inside an If
      slice.offset += box[d].low * buffer.strides[d] * ir::bytes(buffer.dtype);
      slice.buffer.shape[d] = box[d].high - box[d].low + 1;
    }
    if (slice.buffer.shape == buffer.shape || slice.offset % alignment_ != 0) return std::nullopt;
    slice.buffer.name = buffer.name + "_at_" + std::to_string(slice.offset);
    return slice;
  }

  static ir::Program sliced(ir::Program kernel, const std::vector<Slice>& slices) {
    for (const Slice& slice : slices) {
      *std::ranges::find(kernel.buffers, slice.of, &ir::Buffer::name) = slice.buffer;
      ir::for_each<ir::Load>(kernel.body, [&](ir::Load& load) {
        if (load.buffer != slice.of) return;
        load.buffer = slice.buffer.name;
        for (std::size_t d = 0; d < load.index.size(); ++d) load.index[d] = load.index[d] - slice.box[d].low;
      });
    }
    ir::Ranges scope;
    ir::map_expressions(kernel.body, scope,
                        [](const ir::Expr& e, const ir::Ranges& ranges) { return ir::simplify(e, ranges); });
    return kernel;
  }

  /// The name of the tensor that holds the slice. Adds the tensor to the module if it is new.
  std::string tensor_of(const Slice& slice) {
    const std::string name = slice.buffer.name;
    std::vector<ir::Buffer>& known = made_[name];  // slices at the same place with other extents
    for (const ir::Buffer& buffer : known)
      if (buffer.shape == slice.buffer.shape && buffer.strides == slice.buffer.strides) return buffer.name;
    ir::Buffer& buffer = known.emplace_back(slice.buffer);
    while (!names_.insert(buffer.name).second) buffer.name += "_";
    ir::Tensor tensor{.name = buffer.name,
                      .type = {buffer.dtype, buffer.shape},
                      .source = {},
                      .of = {},
                      .permutation = {},
                      .part_of = slice.of,
                      .offset = slice.offset};
    if (buffer.strides != ir::row_major_strides(buffer.shape)) tensor.type.shape = {ir::span(buffer)};
    module_.tensors.push_back(std::move(tensor));
    return buffer.name;
  }

  ir::Module& module_;
  std::int64_t alignment_;
  std::set<std::string> names_;
  std::map<std::string, std::vector<ir::Buffer>> made_;  // by the name before it was made unique
};

}  // namespace

void share_slices(ir::Module& module, const Target& target) { Slicer(module, target).run(); }

}  // namespace deplo::rules::fusion
