#include "rules/raise/raise.h"
#include "rules/raise/extremes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "ir/hardware/mma.h"
#include "ir/walk.h"
#include "rules/fusion/loop_op.h"
#include "rules/raise/evaluator.h"

namespace deplo::rules {
namespace raising {
namespace {

using fusion::Value;

struct StoreSite {
  const tp::Operation* store = nullptr;
  std::vector<const tp::Operation*> around;  // loops around the store, outer loops first
};

/// Side effects of an entry's operations. Refuses those that Loop IR cannot express.
class Effects {
 public:
  explicit Effects(Evaluator& in) : in_(in) { walk(in.entry.body); }
  std::vector<StoreSite> stores;

 private:
  void walk(const tp::Region& region) {
    for (const tp::Operation& op : region.operations) visit(op);
  }

  void visit(const tp::Operation& op) {
    const std::string_view name = op.form->name;
    if (name == "store_ptr_tko" || name == "store_view_tko") {
      stores.push_back({&op, around_});
    } else if (name == "for") {
      around_.push_back(&op);
      walk(op.regions[0]);
      around_.pop_back();
    } else if (name == "if") {
      for (const tp::Region& inner : op.regions) {
        if (!inner.operations.empty() && inner.operations.back().form->name != "yield")
          in_.refuse(op,
                     fmt::format("a branch ends the block or its trip with {}", inner.operations.back().form->name));
        const std::size_t before = stores.size();
        walk(inner);
        if (stores.size() > before)
          in_.refuse(*stores.back().store, "it is in a branch, so some elements keep their old values");
      }
    } else if (name.starts_with("atomic_")) {
      in_.refuse(op, "blocks communicate through it");
    } else if (name == "print_tko" || name == "assert" || name == "loop" || name == "alloca" || name == "get_global") {
      in_.refuse(op, "a kernel of Loop IR is a function of its inputs only");
    }
  }

  Evaluator& in_;
  std::vector<const tp::Operation*> around_;
};

/// Does the program round all operands of its f32 products to tf32? Then tensor cores, which round in the same way,
/// change nothing.
bool rounds_to_tf32(const ir::Program& kernel) {
  const std::vector<std::string> products = ir::mma::find_products(kernel, ir::mma::Operands::tf32);
  std::set<std::string, std::less<>> rounded;
  bool all = !products.empty();
  ir::for_each<ir::Assign>(kernel.body, [&](const ir::Assign& assign) {
    if (assign.op == ir::Op::round_tf32) rounded.insert(assign.dst);
    if (std::ranges::find(products, assign.dst) == products.end()) return;
    all = all && std::ranges::all_of(assign.args, [&](const ir::Arg& arg) {
            const auto* value = std::get_if<std::string>(&arg);
            return value != nullptr && rounded.contains(*value);
          });
  });
  return all;
}

/// Do maxima and minima of the program's floats keep NaN? Refuses programs in which only some of them do.
bool keeps_nan(const Evaluator& in) {
  std::optional<bool> found;
  tp::for_each_operation(in.entry.body, [&](const tp::Operation& op) {
    if (op.form->name != "maxf" && op.form->name != "minf") return;
    const bool keeps = op.number("propagate_nan") != 0;
    if (found.value_or(keeps) != keeps)
      in.refuse(op, "all maxima and minima of a kernel keep NaN (propagate_nan), or none");
    found = keeps;
  });
  return found.value_or(true);
}

/// The outputs of a program, and the kernels that compute them.
class Kernels {
 public:
  explicit Kernels(Evaluator& in) : in_(in), keeps_nan_(keeps_nan(in)) {}

  void add(Output output) {
    for (const Output& other : outputs_)
      if (other.array == output.array)
        in_.refuse(*output.store, fmt::format("{} is written by two stores", array(output).name));
    if (!keeps_nan_) output.root = choosing_numbers(in_.elements, output.root);
    // An element need not be rounded before it is written, because the write rounds it.
    if (Value root = values()[output.root]; root.kind == Value::Kind::scatter) {
      root.args.back() = unrounded(values(), root.args.back(), array(output).dtype);
      output.root = values().add(std::move(root));
    } else {
      output.root = unrounded(values(), output.root, array(output).dtype);
    }
    outputs_.push_back(std::move(output));
  }

  ir::Module run() {
    check_loads();
    make_graph();
    fusion::Fusion state{.graph = graph_, .values = {}, .ops = {}, .attentions = {}};
    for (std::size_t i = 0; i < outputs_.size(); ++i) roots_.push_back(share(i));
    state.values = std::move(values());
    ir::Module module;
    std::set<std::string> used;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      fusion::LoopOp op{.output = node_of(i), .root = roots_[i]};
      if (state.values[op.root].kind == Value::Kind::scatter) {
        op.axes = outputs_[i].axes;
        // Values that differ per block, such as the expert of its rows, get an axis of their own.
        fusion::split_axes(state, op);
      }
      fusion::complete(state, op);
      sweep_once(state, op);
      for (const int tensor : op.reads) used.insert(graph_.nodes[static_cast<std::size_t>(tensor)].name);
      ir::Program kernel = fusion::place(state, op);
      for (ir::Buffer& buffer : kernel.buffers) set_strides(buffer);
      kernel.allow_tf32 = rounds_to_tf32(kernel);
      module.kernels.push_back(std::move(kernel));
      module.outputs.push_back(state.name(op.output));
    }
    for (const ir::tensor::Node& node : graph_.nodes) {
      const bool input = node.as<ir::tensor::Input>() != nullptr;
      if (input && !used.contains(node.name)) continue;
      ir::Tensor tensor{.name = node.name, .type = node.type, .source = {}, .of = {}, .permutation = {}};
      if (input) tensor.kind = ir::Tensor::Kind::input;
      module.tensors.push_back(std::move(tensor));
    }
    for (const ir::Program& kernel : module.kernels)
      if (const std::string fault = ir::verify(kernel); !fault.empty()) throw Refused(faulty(fault));
    return module;
  }

 private:
  fusion::Values& values() { return in_.elements.values; }
  const Array& array(const Output& output) const { return in_.arrays[static_cast<std::size_t>(output.array)]; }
  int node_of(std::size_t output) const { return static_cast<int>(in_.arrays.size() + output); }

  std::string faulty(const std::string& fault) const {
    return fmt::format("{}: cannot raise {}: {}", tp::place(in_.program, in_.entry.location), in_.entry.name, fault);
  }

  /// Checks that an array that is written is read only to compute the same element, and before that element is written.
  /// So the order of blocks does not matter.
  void check_loads() {
    for (const Output& output : outputs_)
      for (const Output& reader : outputs_)
        for (const ValueId id : fusion::reachable(in_.elements.values, reader.root)) {
          const Value& value = values()[id];
          if (value.kind != Value::Kind::load || value.tensor != output.array) continue;
          const bool same = value.index == output.index;
          const auto later = [&](const auto& load) {
            return load.second == output.array && !before(*load.first, *output.store);
          };
          if (&reader != &output)
            in_.refuse(*output.store, fmt::format("{} is computed from {}, which is written too", array(reader).name,
                                                  array(output).name));
          if (!same)
            in_.refuse(*output.store, fmt::format("another block may read what it writes to {}", array(output).name));
          if (std::ranges::any_of(in_.loads, later))
            in_.refuse(*output.store, fmt::format("{} is read after it", array(output).name));
        }
  }

  /// Does `a` come before `b` in the program's text?
  bool before(const tp::Operation& a, const tp::Operation& b) const {
    const tp::Operation* first = nullptr;
    tp::for_each_operation(in_.entry.body, [&](const tp::Operation& op) {
      if (first == nullptr && (&op == &a || &op == &b)) first = &op;
    });
    return first == &a;
  }

  bool is_read(int array) {
    for (const Output& output : outputs_)
      for (const ValueId id : fusion::reachable(in_.elements.values, output.root))
        if (values()[id].kind == Value::Kind::load && values()[id].tensor == array) return true;
    return false;
  }

  /// Creates a tensor for each array, followed by one for each output.
  void make_graph() {
    std::set<std::string> names;
    for (const Array& array : in_.arrays) names.insert(array.name);
    for (const Array& array : in_.arrays)
      graph_.nodes.push_back({array.name, {array.dtype, array.shape}, ir::tensor::Input{}, {}});
    for (const Output& output : outputs_) {
      std::string name = array(output).name;
      if (is_read(output.array)) do
          name += "_out";
        while (!names.insert(name).second);
      graph_.nodes.push_back({name, {array(output).dtype, array(output).shape}, ir::tensor::Elementwise{}, {}});
      graph_.outputs.push_back(static_cast<int>(graph_.nodes.size()) - 1);
    }
  }

  /// The output's value, with loads in place of values that an earlier kernel has written.
  ValueId share(std::size_t number) {
    const Output& output = outputs_[number];
    return values().replace(output.root, [&](const Value& value) -> std::optional<ValueId> {
      for (std::size_t i = 0; i < number; ++i) {
        const Output& other = outputs_[i];
        const bool exact = array(other).dtype == ir::DType::f32 || array(other).dtype == ir::DType::i32;
        if (!exact || !(values()[roots_[i]] == value) || !agrees(other, output)) continue;
        return values().add(
            {.kind = Value::Kind::load, .dtype = value.dtype, .tensor = node_of(i), .index = other.index});
      }
      return std::nullopt;
    });
  }

  /// Computes an attention's maximum, total and weighted sums in one sweep over its keys, which computes each score
  /// once.
  static void sweep_once(fusion::Fusion& state, fusion::LoopOp& op) {
    fusion::LoopOp swept = op;
    fusion::split_axes(state, swept);
    std::string why_not;
    const auto root = fusion::online_softmax(state.values, swept.root, state.shape(swept), why_not);
    if (!root) return;
    swept.root = *root;
    op = std::move(swept);
    fusion::complete(state, op);
  }

  /// Do the axes of the first output mean the same in the second output?
  bool agrees(const Output& first, const Output& second) const {
    for (std::size_t d = 0; d < first.axes.size(); ++d)
      if (first.axes[d] > 1 && (d >= second.axes.size() || first.axes[d] != second.axes[d])) return false;
    return true;
  }

  void set_strides(ir::Buffer& buffer) const {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].name != buffer.name) continue;
      const std::size_t of =
          i < in_.arrays.size() ? i : static_cast<std::size_t>(outputs_[i - in_.arrays.size()].array);
      buffer.strides = in_.arrays[of].strides;
    }
  }

  Evaluator& in_;
  bool keeps_nan_;
  std::vector<Output> outputs_;
  std::vector<ValueId> roots_;
  ir::tensor::Graph graph_;
};

}  // namespace
}  // namespace raising

namespace {

ir::Module raise_or_refuse(const ir::tile_program::Program& program, const TileLaunch& launch) {
  for (const std::int64_t extent : launch.grid)
    if (extent < 1) throw Error(fmt::format("{}: expected a grid of at least 1, found {}", program.where, extent));
  const ir::tile_program::Entry& entry = ir::tile_program::find_entry(program, launch.entry);
  raising::Evaluator evaluator(program, entry, launch);
  const raising::Effects effects(evaluator);
  if (effects.stores.empty())
    throw raising::Refused(fmt::format("{}: cannot raise {}: it stores nothing",
                                       ir::tile_program::place(program, entry.location), entry.name));
  raising::Kernels kernels(evaluator);
  for (const raising::StoreSite& site : effects.stores)
    kernels.add(raising::raise_store(evaluator, *site.store, site.around));
  return kernels.run();
}

}  // namespace

std::variant<ir::Module, NotRaised> try_raise(const ir::tile_program::Program& program, const TileLaunch& launch) {
  try {
    return raise_or_refuse(program, launch);
  } catch (const raising::Refused& refused) {
    return NotRaised{refused.what()};
  }
}

ir::Module raise(const ir::tile_program::Program& program, const TileLaunch& launch) {
  auto raised = try_raise(program, launch);
  if (const auto* refused = std::get_if<NotRaised>(&raised)) throw Error(refused->why);
  return std::get<ir::Module>(std::move(raised));
}

}  // namespace deplo::rules
