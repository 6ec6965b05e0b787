#include "ir/torch/pt2/pt2.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/error.h"
#include "core/indices.h"
#include "core/text/nearest.h"
#include "core/text/one_of.h"
#include "ir/torch/operations/family.h"
#include "ir/torch/operations/operation.h"
#include "ir/torch/pt2/archive.h"
#include "ir/torch/pt2/complex.h"
#include "ir/torch/pt2/program/call.h"
#include "ir/torch/pt2/program/checks.h"
#include "ir/torch/pt2/program/inline.h"
#include "ir/torch/pt2/program/program.h"
#include "ir/torch/pt2/program/selections.h"
#include "ir/torch/pt2/program/states.h"
#include "ir/torch/pt2/weights.h"

namespace deplo::ir::torch {
namespace pt2 {
namespace {

constexpr std::string_view aten_prefix = "torch.ops.";

// Returns all supported functions, sorted by name.
const std::vector<Function>& functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> found;
    for (const Composites& family : composites())
      found.insert(found.end(), family.readers.begin(), family.readers.end());
    for (const Operation& operation : operations())
      for (const Function& f : operation.readers) found.emplace_back(f).op = operation.name;
    std::ranges::sort(found, {}, &Function::name);
    CHECK(std::ranges::adjacent_find(found, {}, &Function::name) == found.end());
    return found;
  }();
  return all;
}

bool draws_numbers(std::string_view name) {
  return is_one_of(name, {"aten.bernoulli", "aten.cauchy", "aten.exponential", "aten.geometric", "aten.log_normal",
                          "aten.multinomial", "aten.normal", "aten.normal_functional", "aten.poisson", "aten.rand",
                          "aten.rand_like", "aten.randint", "aten.randint_like", "aten.randn", "aten.randn_like",
                          "aten.random", "aten.randperm", "aten.uniform"});
}

/// Whether elements decide how many results the function has: how many values differ, how many boxes remain.
bool counts_results(std::string_view name) {
  return is_one_of(name,
                   {"aten._unique", "aten._unique2", "aten.unique_consecutive", "aten.unique_dim", "torchvision.nms"});
}

std::string unsupported(std::string_view target, std::string_view name) {
  if (draws_numbers(name))
    return fmt::format("expected no random numbers (a program may have them as an input), found {}", target);
  if (name == "higher_order.while_loop")
    return fmt::format("expected loops with a known number of steps (such as those of scan), found {}", target);
  if (target.starts_with("torch._functorch"))
    return fmt::format("expected a program without vmap (save program.run_decompositions({{}}) to remove it), found {}",
                       target);
  if (counts_results(name))
    return fmt::format(
        "expected a result whose shape does not depend on elements (export the model without this step, so that its "
        "outputs are what this step reads), found {}",
        target);
  std::vector<std::string> names;
  for (const Function& f : functions()) names.emplace_back(f.name);
  return fmt::format("expected a supported operation, found {}{}", target, did_you_mean(name, names));
}

/// Returns the usual name of an operation that has several names in PyTorch.
std::string_view plain_name(std::string_view name) {
  constexpr auto others = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"aten.__iand__", "aten.__and__"},
       {"aten.__ilshift__", "aten.__lshift__"},
       {"aten.__ior__", "aten.__or__"},
       {"aten.__irshift__", "aten.__rshift__"},
       {"aten.__ixor__", "aten.__xor__"},
       {"aten._neg_view", "aten.neg"},
       {"aten._unsafe_index", "aten.index"},
       {"aten.absolute", "aten.abs"},
       {"aten.arccos", "aten.acos"},
       {"aten.arccosh", "aten.acosh"},
       {"aten.arcsin", "aten.asin"},
       {"aten.arcsinh", "aten.asinh"},
       {"aten.arctan", "aten.atan"},
       {"aten.arctan2", "aten.atan2"},
       {"aten.arctanh", "aten.atanh"},
       {"aten.clip", "aten.clamp"},
       {"aten.concat", "aten.cat"},
       {"aten.concatenate", "aten.cat"},
       {"aten.divide", "aten.div"},
       {"aten.fix", "aten.trunc"},
       {"aten.greater", "aten.gt"},
       {"aten.greater_equal", "aten.ge"},
       {"aten.less", "aten.lt"},
       {"aten.less_equal", "aten.le"},
       {"aten.linalg_matmul", "aten.matmul"},
       {"aten.moveaxis", "aten.movedim"},
       {"aten.multiply", "aten.mul"},
       {"aten.negative", "aten.neg"},
       {"aten.not_equal", "aten.ne"},
       {"aten.row_stack", "aten.vstack"},
       {"aten.special_erf", "aten.erf"},
       {"aten.special_erfc", "aten.erfc"},
       {"aten.special_erfinv", "aten.erfinv"},
       {"aten.special_exp2", "aten.exp2"},
       {"aten.special_expit", "aten.sigmoid"},
       {"aten.special_expm1", "aten.expm1"},
       {"aten.special_log1p", "aten.log1p"},
       {"aten.special_log_softmax", "aten.log_softmax"},
       {"aten.special_logit", "aten.logit"},
       {"aten.special_logsumexp", "aten.logsumexp"},
       {"aten.special_round", "aten.round"},
       {"aten.special_softmax", "aten.softmax"},
       {"aten.subtract", "aten.sub"},
       {"aten.unsafe_chunk", "aten.chunk"},
       {"aten.unsafe_split", "aten.split"},
       {"aten.unsafe_split_with_sizes", "aten.split_with_sizes"}});
  const auto* const found = std::ranges::find(others, name, &std::pair<std::string_view, std::string_view>::first);
  return found == others.end() ? name : found->second;
}

/// Whether the function changes its argument `self`, as add_ and __iand__ do, and __and__ does not.
bool changes_self(std::string_view name) {
  return name.ends_with("__") ? is_one_of(name, {"aten.__iand__", "aten.__ilshift__", "aten.__ior__",
                                                 "aten.__irshift__", "aten.__ixor__"})
                              : name.ends_with('_');
}

/// Whether the in-place function of this name gives its tensor another shape, and changes no element. Later nodes read
/// its result, which is a view.
bool changes_shape(std::string_view name) {
  return is_one_of(name, {"aten.as_strided", "aten.detach", "aten.squeeze", "aten.swapaxes", "aten.swapdims", "aten.t",
                          "aten.transpose", "aten.unsqueeze"});
}

/// What a node calls. "torch.ops.aten.add_.Tensor" is the function "aten.add" with the overload "Tensor", in place.
struct Target {
  std::string_view name, overload;
  bool in_place = false;

  explicit Target(std::string_view target) {
    if (target.starts_with(aten_prefix)) target.remove_prefix(aten_prefix.size());
    const std::size_t dot = target.find('.', target.find('.') + 1);
    name = target.substr(0, dot);
    overload = dot < target.size() ? target.substr(dot + 1) : "";
    in_place = changes_self(name);
    if (in_place && !name.ends_with("__")) name.remove_suffix(1);
    name = plain_name(name);
    if (changes_shape(name)) in_place = false;
  }
};

/// Returns nullptr if there is no function of this name.
const Function* find_function(std::string_view name) {
  const auto found = std::ranges::lower_bound(functions(), name, {}, &Function::name);
  return found == functions().end() || found->name != name ? nullptr : &*found;
}

// Finds a function. Throws Error.
const Function& function_of(const std::string& target) {
  const auto [name, overload, in_place] = Target(target);
  const Function* const found = find_function(name);
  if (found == nullptr || overload == "out" || overload.ends_with("_out")) throw Error(unsupported(target, name));
  return *found;
}

/// Whether the function is a transform between real tensors, such as irfft, or creates frequencies, such as fftfreq.
bool is_real_fourier(std::string_view name) { return name.starts_with("aten.fft_") && find_function(name) == nullptr; }

// Whether the function is a view that no operation of the graph undoes.
bool is_other_view(std::string_view name) {
  return is_one_of(name, {"aten._conj", "aten.as_strided", "aten.broadcast_tensors", "aten.broadcast_to", "aten.conj",
                          "aten.diagonal", "aten.dsplit", "aten.einsum", "aten.expand", "aten.expand_as", "aten.hsplit",
                          "aten.imag", "aten.meshgrid", "aten.movedim", "aten.numpy_T", "aten.real", "aten.swapaxes",
                          "aten.swapdims", "aten.unfold"});
}

// Whether the function swaps the last two dimensions.
bool is_turned(std::string_view name) {
  return is_one_of(name, {"aten.adjoint", "aten.mH", "aten.mT", "aten.matrix_H", "aten.t"});
}

// Whether the function returns its tensor as it is, or with other dimensions.
bool is_same(std::string_view name) {
  return is_reshaping(name) ||
         is_one_of(name, {"aten.alpha_dropout", "aten.atleast_1d", "aten.atleast_2d", "aten.atleast_3d", "aten.dropout",
                          "aten.feature_alpha_dropout", "aten.feature_dropout", "aten.positive", "aten.resolve_conj",
                          "aten.resolve_neg", "aten.type_as", "aten.view_as_complex", "aten.view_as_real"});
}

bool is_view(std::string_view name) {
  return is_same(name) || is_turned(name) ||
         is_one_of(name,
                   {"aten.chunk", "aten.narrow", "aten.permute", "aten.select", "aten.slice", "aten.split",
                    "aten.split_with_sizes", "aten.tensor_split", "aten.transpose", "aten.unbind", "aten.vsplit"}) ||
         is_other_view(name);
}

// Whether each index of an operand is an index of the result, which then shows all elements that have its indices.
bool keeps_indices(std::string_view equation) {
  const std::size_t arrow = equation.find("->");
  const std::string_view from = equation.substr(0, arrow);
  const auto is_kept = [&](char c) {
    if (c == ' ' || c == '.') return true;
    return arrow == std::string_view::npos ? std::ranges::count(from, c) == 1
                                           : equation.find(c, arrow) < equation.size();
  };
  return std::ranges::all_of(from, is_kept);
}

/// Whether a reshaped tensor of these strides still shows the same elements in memory. This requires that runs of
/// dimensions that follow each other in memory become whole dimensions.
bool keeps_memory(const Shape& sizes, const std::vector<std::int64_t>& strides, const Shape& to) {
  std::vector<std::int64_t> runs;
  std::int64_t last = 0, product = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if (!runs.empty() && last == sizes[d] * strides[d])
      runs.back() *= sizes[d];
    else
      runs.push_back(sizes[d]);
    last = strides[d];
  }
  std::size_t run = 0;
  for (const std::int64_t extent : to) {
    if (extent == 1) continue;
    product *= extent;
    if (run == runs.size() || product > runs[run]) return false;
    if (product < runs[run]) continue;
    product = 1;
    ++run;
  }
  return run == runs.size();
}

/// Whether the node's outputs are all numbers that are known only when the program runs. Such nodes are skipped,
/// because checks read these numbers. Other operations that read one throw Error.
bool gives_symbols(const ProgramNode& node) {
  const auto is_symbol = [](const Argument& output) { return std::holds_alternative<Symbol>(output); };
  return !node.outputs.empty() && std::ranges::all_of(node.outputs, is_symbol);
}

bool reads(const ProgramNode& node, const std::string& tensor) {
  return std::ranges::any_of(node.inputs, [&](const NamedArgument& a) { return reads(a.value, tensor); });
}

/// Whether the node's outputs have sizes that depend on elements, and only nodes that give numbers read these outputs.
/// Such nodes are skipped as well. Programs check the number of elements that a mask selects (x[mask].numel()).
bool is_only_counted(const ProgramNode& node, const ProgramGraph& graph) {
  if (node.outputs.empty() || Target(node.target).in_place) return false;
  const auto is_counted = [&](const std::string& name) {
    const auto found = graph.tensors.find(name);
    const auto uses = [&](const ProgramNode& other) { return !gives_symbols(other) && reads(other, name); };
    return found != graph.tensors.end() && found->second.open && std::ranges::none_of(graph.nodes, uses) &&
           std::ranges::none_of(graph.outputs, [&](const Argument& output) { return reads(output, name); });
  };
  return std::ranges::all_of(node.outputs, [&](const Argument& output) {
    bool counted = std::holds_alternative<Tensor>(output) || std::holds_alternative<Tensors>(output);
    each_tensor(output, [&](const std::string& name) { counted &= is_counted(name); });
    return counted;
  });
}

// Whether an output is the new value of a buffer or input that the program changes.
bool is_new_state(std::string_view kind) { return kind == "buffer_mutation" || kind == "user_input_mutation"; }

/// An output of a node that shows elements of another tensor. If `node` is null, the view is the tensor itself under
/// another name.
struct View {
  std::string base;
  const ProgramNode* node;
  std::size_t output;
};

// Reads a graph node by node. The methods handle the forms of a node and the effects of changing a view. All of them
// need the ids and the views of earlier nodes.
class GraphReader {
 public:
  GraphReader(const ProgramGraph& graph, Builder& builder, Call::Ids ids)
      : graph_(graph), builder_(builder), ids_(std::move(ids)) {}

  /// Returns the integers that nodes before the end, or before an error, read from constant tensors. Leaves out names
  /// that nodes of several graphs have.
  Constants constants() const {
    Constants found;
    std::set<std::string> seen;
    for (const ProgramNode& node : graph_.nodes) {
      const std::string_view name = Target(node.target).name;
      const auto* result = node.outputs.size() == 1 ? std::get_if<Symbol>(node.outputs.data()) : nullptr;
      if (result == nullptr || (name != "aten.item" && name != "aten._local_scalar_dense")) continue;
      const std::optional<std::int64_t> value = constant(node);
      if (!seen.insert(result->name).second)
        found.erase(result->name);
      else if (value)
        found.emplace(result->name, *value);
    }
    return found;
  }

  /// Returns the results, then the new values of the buffers and inputs that the program changes: those that it returns
  /// itself, and those that it changes in place, in the order of the inputs.
  std::vector<Id> read(const std::vector<OutputSpec>& specs) {
    for (const ProgramNode& node : graph_.nodes) {
      if (gives_symbols(node) || is_only_counted(node, graph_)) continue;
      try {
        check_names(node);
        read(node);
        if (Target(node.target).in_place)
          change(node);
        else
          note_views(node);
      } catch (const Error& e) {
        throw Error(fmt::format("node '{}': {}", node.name, e.what()));
      }
    }
    std::vector<Id> results, states;
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (std::holds_alternative<None>(graph_.outputs[i])) continue;
      const bool is_state = i < specs.size() && is_new_state(specs[i].kind);
      freshen(graph_.outputs[i]);
      (is_state ? states : results).push_back(output(graph_.outputs[i], results.size()));
    }
    for (const Argument& input : graph_.inputs)
      if (const auto* t = std::get_if<Tensor>(&input); t != nullptr && std::ranges::count(changed_, t->name) > 0)
        states.push_back(id(t->name));
    results.insert(results.end(), states.begin(), states.end());
    return results;
  }

 private:
  void check_names(const ProgramNode& node) const {
    const Call call(node, graph_, ids_, builder_);
    for (const std::string& name : call.outputs())
      if (!name.empty() && ids_.contains(name))
        throw Error(fmt::format("expected a result with a name of its own, found '{}' again", name));
  }

  Id output(const Argument& value, std::size_t number) const {
    const auto* t = std::get_if<Tensor>(&value);
    if (t == nullptr) throw Error(fmt::format("output {}: expected a tensor, found {}", number, describe(value)));
    return id(t->name);
  }

  // Returns the integer that `self.item()` reads, if the tensor is a constant that was read.
  std::optional<std::int64_t> constant(ProgramNode node) const {
    const Tensor* self = argument(node, "self");
    const auto found = self == nullptr ? ids_.end() : ids_.find(self->name);
    if (found == ids_.end() || !is_integer(builder_.type(found->second).dtype)) return std::nullopt;
    node.outputs.clear();  // a number, but the outputs of a call are tensors
    Call call(node, graph_, ids_, builder_);
    const std::optional<std::vector<double>> values = known_values(caller_of(call), found->second);
    return values && values->size() == 1 ? std::optional(static_cast<std::int64_t>(values->front())) : std::nullopt;
  }

  // In-place operations become functions. The result is the new value of the tensor, of the tensors that it is a view
  // of, and of the views of these tensors.

  static const Tensor* argument(const ProgramNode& node, std::string_view name) {
    const auto found = std::ranges::find(node.inputs, name, &NamedArgument::name);
    return found == node.inputs.end() ? nullptr : std::get_if<Tensor>(&found->value);
  }

  // Names the tensor that an output of a view shows. meshgrid has a list of tensors and shows each in one output.
  static std::string shown(const ProgramNode& node, std::size_t output) {
    for (const std::string_view name : {"self", "input"})
      if (const Tensor* tensor = argument(node, name)) return tensor->name;
    const auto found = std::ranges::find(node.inputs, "tensors", &NamedArgument::name);
    const auto* list = found == node.inputs.end() ? nullptr : std::get_if<Tensors>(&found->value);
    return list != nullptr && output < list->names.size() ? list->names[output] : "";
  }

  void note_views(const ProgramNode& node) {
    const std::string_view name = Target(node.target).name;
    if (!is_view(name)) return;
    Call call(node, graph_, ids_, builder_);
    for (std::size_t i = 0; i < call.outputs().size(); ++i) {
      const std::string base = shown(node, i);
      if (!base.empty() && !copies(base, name, call)) views_.insert_or_assign(call.outputs()[i], View{base, &node, i});
    }
  }

  // Whether the call copies its tensor. The function is a view of some tensors and a copy of others.
  bool copies(const std::string& self, std::string_view name, Call& call) const {
    if (name == "aten.einsum") return call.tensors("tensors").size() != 1 || !keeps_indices(call.text("equation", ""));
    const auto found = graph_.tensors.find(self), result = graph_.tensors.find(call.outputs()[0]);
    if (found == graph_.tensors.end() || result == graph_.tensors.end()) return false;
    const TensorMeta &meta = found->second, &to = result->second;
    if (name == "aten.to" && call.flag("copy", false)) return true;
    if (name == "aten.to" || name == "aten.type_as" || name == "aten.contiguous")  // a copy has another type or layout
      return meta.stated != to.stated || meta.strides != to.strides;
    if (meta.strides.size() != meta.type.shape.size() || element_count(meta.type.shape) == 0) return false;
    if (name == "aten.flatten" || name == "aten.reshape" || name == "aten.reshape_as")
      return !keeps_memory(meta.type.shape, meta.strides, to.type.shape);
    if (name != "aten.ravel") return false;
    const Shape dense = row_major_strides(meta.type.shape);
    for (std::size_t d = 0; d < dense.size(); ++d)
      if (meta.type.shape[d] != 1 && meta.strides[d] != dense[d]) return true;
    return false;
  }

  void change(const ProgramNode& node) {
    const Tensor* self = argument(node, "self");
    const Call call(node, graph_, ids_, builder_);
    if (self == nullptr || call.outputs().size() != 1) throw Error("expected a tensor 'self' to change in place");
    const std::string& result = call.outputs()[0];
    const TensorType& type = builder_.type(id(self->name));
    const Id value = call.to(id(result), type.dtype);
    if (builder_.type(value).shape != type.shape)
      throw Error(
          fmt::format("expected a result {} to put into 'self', found {}", print(type), print(builder_.type(value))));
    assign(self->name, value, call);
    freshen(self->name);
    ids_.insert_or_assign(result, id(self->name));
    const auto other_name = views_.find(self->name);
    const bool is_name = other_name != views_.end() && other_name->second.node == nullptr;
    views_.insert_or_assign(result, View{is_name ? other_name->second.base : self->name, nullptr, 0});
  }

  void assign(std::string name, Id value, const Call& call) {
    for (auto view = views_.find(name); view != views_.end(); view = views_.find(name)) {
      if (view->second.node != nullptr) value = written_back(view->second, value, call);
      name = view->second.base;
    }
    ids_.insert_or_assign(name, value);
    if (std::ranges::count(changed_, name) == 0) changed_.push_back(name);
    std::vector<std::string> bases = {name};
    while (!bases.empty()) {
      const std::string base = bases.back();
      bases.pop_back();
      for (const auto& [of_base, view] : views_)
        if (view.base == base && stale_.insert(of_base).second) bases.push_back(of_base);
    }
  }

  // Reads a view again if its base has changed, and before that its base.
  void freshen(std::string name) {
    std::vector<std::pair<std::string, View>> chain;
    while (stale_.erase(name) > 0) {
      chain.emplace_back(name, views_.at(name));
      name = chain.back().second.base;
    }
    for (; !chain.empty(); chain.pop_back()) {
      const auto& [view_name, view] = chain.back();
      if (view.node == nullptr) {
        ids_.insert_or_assign(view_name, id(view.base));
        continue;
      }
      read(*view.node);
      const Call call(*view.node, graph_, ids_, builder_);
      for (const std::string& output : call.outputs())  // all of them were read
        if (const auto found = views_.find(output); found != views_.end() && found->second.base == view.base)
          stale_.erase(output);
    }
  }

  void freshen(const Argument& argument) {
    each_tensor(argument, [&](const std::string& name) { freshen(name); });
  }

  // Returns the new value of a view's base after the view has got this value.
  Id written_back(const View& v, Id value, const Call& call) const {
    const std::string_view name = Target(v.node->target).name;
    const Id base = id(v.base);
    Call view(*v.node, graph_, ids_, builder_);
    const Shape& shape = builder_.type(base).shape;
    if (is_same(name)) return call.reshape(value, shape);
    const bool conjugates = is_one_of(name, {"aten.adjoint", "aten.mH", "aten.matrix_H"});
    if (is_complex(v.base) && (conjugates || is_other_view(name) || in_steps(view)))
      throw Error(fmt::format(
          "expected complex numbers that do not change through such a view; clone it before the change; found {}",
          name));
    const std::int64_t rank = rank_of(v.base, view);
    if (name == "aten.transpose") {
      const auto dim = [&](std::string_view argument) {
        const std::int64_t d = view.integer(argument);
        return d < 0 ? d + rank : d;
      };
      return call.add("transpose", {value}, {{"dim0", dim("dim0")}, {"dim1", dim("dim1")}});
    }
    if (is_turned(name))
      return rank < 2 ? value : call.add("transpose", {value}, {{"dim0", rank - 2}, {"dim1", rank - 1}});
    if (name == "aten.permute") {
      Shape back = indices<std::int64_t>(shape.size());
      const std::vector<std::int64_t> dims = view.integers("dims");
      for (std::size_t d = 0; d < dims.size() && d < back.size(); ++d)
        back[static_cast<std::size_t>(dims[d] < 0 ? dims[d] + rank : dims[d])] = static_cast<std::int64_t>(d);
      return call.add("permute", {value}, {{"dims", back}});
    }
    return is_other_view(name) || in_steps(view) ? scattered_back(v, base, value, call)
                                                 : put_part(v, view, base, value, call);
  }

  // Returns the rank of a tensor, without the dimension that holds the parts of complex numbers.
  std::int64_t rank_of(std::string_view tensor, const Call& call) const {
    return call.rank(id(tensor)) - (is_complex(tensor) ? 1 : 0);
  }

  static bool in_steps(Call& view) { return view.has("step") && view.integer("step") != 1; }

  // Writes the view's elements back by scatter. Applying the view to the indices of the base's elements shows where
  // they go.
  Id scattered_back(const View& v, Id base, Id value, const Call& call) const {
    const Shape& shape = builder_.type(base).shape;
    const std::int64_t count = element_count(shape);
    Call::Ids ids = ids_;
    ids.insert_or_assign(v.base, call.reshape(call.add("arange", {}, {{"end", count}}), shape));
    Call view(*v.node, graph_, ids, builder_);
    const Function& function = function_of(v.node->target);
    view.op = function.op;
    view.function = function.name;
    const Id places = function.read(view).at(v.output);
    const Shape flat = {element_count(builder_.type(value).shape)};
    const DType type = builder_.type(base).dtype, number = type == DType::boolean ? DType::i32 : type;
    const auto line = [&](Id id, std::int64_t n) { return call.to(call.reshape(id, {n}), number); };
    const Id whole = call.add("scatter", {line(base, count), call.reshape(places, flat), line(value, flat[0])},
                              {{"dim", std::int64_t{0}}});
    return call.reshape(call.to(whole, type), shape);
  }

  // Writes back a part that select, slice, split, … selected. The part begins where the view begins.
  Id put_part(const View& v, Call& view, Id base, Id value, const Call& call) const {
    const std::string_view name = Target(v.node->target).name;
    const Shape& shape = builder_.type(base).shape;
    const std::int64_t rank = rank_of(v.base, view), given = view.integer("dim", 0);
    const auto dim = static_cast<std::size_t>(given < 0 ? given + rank : given);
    if (dim >= shape.size()) view.fail("dim", "a dimension of the tensor");
    const std::int64_t extent = shape[dim];
    std::int64_t start = view.has("start") ? view.integer("start") : 0;
    if (name == "aten.select" || name == "aten.unbind") {
      start = name == "aten.select" ? view.integer("index") : static_cast<std::int64_t>(v.output);
      value = call.add("unsqueeze", {value}, {{"dim", static_cast<std::int64_t>(dim)}});
    } else if (name != "aten.slice" && name != "aten.narrow") {  // skip the parts before it
      for (std::size_t i = 0; i < v.output; ++i) start += view.output_type(i).shape[dim];
    }
    start = std::clamp<std::int64_t>(start < 0 ? start + extent : start, 0, extent);
    const std::int64_t end = start + builder_.type(value).shape[dim];
    std::vector<Id> parts;
    if (start > 0) parts.push_back(call.slice(base, static_cast<std::int64_t>(dim), 0, start));
    parts.push_back(value);
    if (end < extent) parts.push_back(call.slice(base, static_cast<std::int64_t>(dim), end, extent));
    return parts.size() == 1 ? value : call.add("cat", parts, {{"dim", static_cast<std::int64_t>(dim)}});
  }

  Id id(std::string_view name) const { return find_id(ids_, name); }

  void read(const ProgramNode& node) {
    for (const NamedArgument& input : node.inputs) freshen(input.value);
    Call call(node, graph_, ids_, builder_);
    std::vector<Id> results;
    const std::string_view name = Target(node.target).name;
    if (has_complex(node) || is_real_fourier(name)) {
      results = read_complex(call, name, [&](std::string_view t) { return is_complex(t); });
    } else {
      const Function& function = function_of(node.target);
      call.op = function.op;
      call.function = function.name;
      results = function.read(call);
    }
    call.finish();
    if (results.size() > call.outputs().size()) throw Error("expected an output for each result, found fewer");
    const bool converts = Target(node.target).in_place;
    for (std::size_t i = 0; i < results.size(); ++i) bind(call, i, results[i], converts);
    for (std::size_t i = results.size(); i < call.outputs().size(); ++i)
      if (call.is_read(i))
        throw Error(fmt::format("{}: expected a graph that reads {} of its results, found one that reads '{}' too",
                                node.target, results.size(), call.outputs()[i]));
    for (const auto& [tensor, value] : call.assigned())
      assign(tensor, call.to(value, builder_.type(id(tensor)).dtype), call);
  }

  bool is_complex(std::string_view tensor) const {
    const auto found = graph_.tensors.find(tensor);
    return found != graph_.tensors.end() && pt2::is_complex(found->second.stated);
  }
  bool has_complex(const ProgramNode& node) const {
    const auto is_one = [&](const Argument& a) {
      bool found = false;
      each_tensor(a, [&](const std::string& name) { found |= is_complex(name); });
      return found;
    };
    if (node.outputs.empty()) return false;  // such as a check of metadata
    return std::ranges::any_of(node.outputs, is_one) || std::ranges::any_of(node.inputs, is_one, &NamedArgument::value);
  }

  // Records the result of an output, after checking it against the type that the file states. `converts`: whether a
  // result of another type is converted, as in place.
  void bind(const Call& call, std::size_t i, Id result, bool converts) {
    const TensorMeta& meta = meta_of(call, i);
    const TensorType found = builder_.type(result);
    const TensorType stated = {meta.type.dtype, meta.open ? found.shape : meta.type.shape};
    const bool alike = (is_float(found.dtype) && is_float(stated.dtype)) ||
                       (is_integer(found.dtype) && is_integer(stated.dtype));  // such as out_int32
    if (found.shape != stated.shape || (found.dtype != stated.dtype && !alike && !converts))
      throw Error(fmt::format("expected the result {} that the file states, found {}", print(stated), print(found)));
    ids_.insert_or_assign(call.outputs()[i], call.to(result, stated.dtype));
  }

  // Returns what the file states about an output. A size may be symbolic: PyTorch does not look into a constant mask.
  const TensorMeta& meta_of(const Call& call, std::size_t i) const {
    const auto found = i < call.outputs().size() ? graph_.tensors.find(call.outputs()[i]) : graph_.tensors.end();
    if (found == graph_.tensors.end() || !found->second.open) call.output_type(i);  // throws if there is a problem
    return found->second;
  }

  const ProgramGraph& graph_;
  Builder& builder_;
  Call::Ids ids_;
  std::map<std::string, View, std::less<>> views_;
  std::set<std::string, std::less<>> stale_;  // views whose bases have changed since they were read
  std::vector<std::string> changed_;          // tensors that are not views, in the order of their first change
};

const TensorType& type_of(const ProgramGraph& graph, const std::string& name) {
  const auto found = graph.tensors.find(name);
  if (found == graph.tensors.end()) throw Error(fmt::format("'{}': expected a type in the file, found none", name));
  if (!found->second.problem.empty()) throw Error(fmt::format("'{}': expected {}", name, found->second.problem));
  return found->second.type;
}

// Replaces a stored row of integers in equal steps, such as position_ids or the shifts of packed weights, by the arange
// that made it. The elements of an arange are known without a load. Returns nullopt for other tensors.
std::optional<Id> as_arange(Builder& builder, const TensorType& type, const ValueSource& source) {
  const bool is_row = std::ranges::all_of(type.shape.begin(), type.shape.end() - (type.shape.empty() ? 0 : 1),
                                          [](std::int64_t extent) { return extent == 1; });
  if (!is_integer(type.dtype) || type.shape.empty() || !is_row || !source.values || source.values->size() < 2)
    return {};
  const Numbers& values = *source.values;
  const double step = values[1] - values[0];
  if (step == 0 || std::abs(values[0]) > INT32_MAX || std::abs(step) > INT32_MAX) return {};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != values[0] + static_cast<double>(i) * step) return {};
  const auto start = static_cast<std::int64_t>(values[0]), by = static_cast<std::int64_t>(step);
  const std::int64_t end = start + by * type.shape.back();
  const Id row = builder.call("arange", {}, {{"start", start}, {"end", end}, {"step", by}, {"dtype", type.dtype}});
  return type.shape.size() == 1 ? row : builder.call("reshape", {row}, {{"shape", type.shape}});
}

// Adds an input or parameter. Integers and other constants are skipped, because the graph has them where they are used.
void add_input(const Program& program, const InputSpec& spec, Weights& weights, Builder& builder, Call::Ids& ids) {
  const auto* tensor = std::get_if<Tensor>(&spec.argument);
  const bool constant = spec.kind == "constant_input" || (spec.kind == "user_input" && !tensor);
  if (constant && !std::holds_alternative<Symbol>(spec.argument)) return;
  if (const auto* symbol = std::get_if<Symbol>(&spec.argument))
    throw Error(fmt::format("inputs: expected a constant as '{}', whose value the file does not state", symbol->name));
  if (!tensor) throw Error(fmt::format("inputs: expected tensors, found a {}", spec.kind));
  const TensorType& type = type_of(program.graph, tensor->name);
  const bool given = spec.kind == "user_input";
  const ValueSource source = given ? ValueSource{} : weights.find(spec.stored, type);
  if (const std::optional<Id> range = as_arange(builder, type, source)) {
    ids.insert_or_assign(tensor->name, *range);
    return;
  }
  const Id id = given ? builder.input(tensor->name, type) : builder.parameter(spec.stored, type, source);
  ids.insert_or_assign(tensor->name, id);
}

bool keeps_values(std::string_view op) {
  return is_one_of(op, {"expand", "permute", "reshape", "select", "slice", "squeeze", "transpose", "unsqueeze"});
}

/// Sets the distributions of integer and boolean inputs, because an exported program does not describe its inputs and
/// these types cannot be drawn from a normal distribution. An index is drawn from the extent that it indexes.
void draw_whole_inputs(Graph& graph) {
  std::vector<Id> origin(graph.nodes.size());
  std::set<const Node*> indices;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    origin[i] = static_cast<Id>(i);
    if (node.kind == Node::Kind::input) {
      constexpr double unsaid = 32;  // the default of a kernel's own inputs (measure/check/inputs.h)
      const bool truth = node.type.dtype == DType::boolean;
      if (truth || is_integer(node.type.dtype)) {
        node.source.fill = {Fill::Draw::integers, 0, truth ? 2 : unsaid};
        node.source.guessed = true;
      }
    }
    if (node.kind != Node::Kind::call) continue;
    const auto is_whole = [&](Id id) { return is_integer(graph.nodes[static_cast<std::size_t>(id)].type.dtype); };
    if (keeps_values(node.op) || (node.op == "to" && is_whole(node.args[0])))
      origin[i] = origin[static_cast<std::size_t>(node.args[0])];
    if (node.op != "embedding" && node.op != "gather" && node.op != "index_select") continue;
    const Shape& table = graph.nodes[static_cast<std::size_t>(node.args[0])].type.shape;
    const std::int64_t extent = table[node.op == "embedding" ? 0 : static_cast<std::size_t>(node.integer("dim"))];
    Node& index = graph.nodes[static_cast<std::size_t>(origin[static_cast<std::size_t>(node.args[1])])];
    if (index.kind != Node::Kind::input) continue;
    double& end = index.source.fill.b;
    end = indices.insert(&index).second ? static_cast<double>(extent) : std::min(end, static_cast<double>(extent));
  }
}

/// Returns a warning that names the first tensor of float64 or complex128; "" if there is none.
std::string note_on_float64(const ProgramGraph& graph) {
  std::vector<std::string> names;
  const auto add = [&](const Argument& argument) {
    each_tensor(argument, [&](const std::string& name) { names.push_back(name); });
  };
  std::ranges::for_each(graph.inputs, add);
  for (const ProgramNode& node : graph.nodes) std::ranges::for_each(node.outputs, add);
  const auto is_double = [&](const std::string& name) {
    const auto found = graph.tensors.find(name);
    return found != graph.tensors.end() &&
           (found->second.stated == ScalarType::float64 || found->second.stated == ScalarType::complex128);
  };
  const auto found = std::ranges::find_if(names, is_double);
  if (found == names.end()) return "";
  return fmt::format("'{}' is {} in PyTorch; such tensors are computed in float32", *found,
                     scalar_type_name(graph.tensors.find(*found)->second.stated));
}

// Returns the program's graph. `constants`: the program's integers that are known. If a node has an error, adds the
// integers that nodes before it give, and returns nullopt. Throws the error if all of them were known.
std::optional<Graph> read_with(const Program& program, Weights& weights, Constants& constants) {
  Builder builder;
  Call::Ids ids;
  for (const InputSpec& spec : program.inputs) add_input(program, spec, weights, builder, ids);
  GraphReader reader(program.graph, builder, std::move(ids));
  try {
    const std::vector<Id> outputs = reader.read(program.outputs);
    if (outputs.empty()) throw Error("outputs: expected at least one tensor, found none");
    return builder.finish(outputs);
  } catch (const Error&) {
    const std::size_t known = constants.size();
    constants.merge(reader.constants());
    if (constants.size() == known) throw;
    return std::nullopt;
  }
}

Graph read(const Zip& archive, const Symbols& sizes) {
  const Place place = place_of_program(archive);
  const std::string text = archive.read(place.entry);
  Weights weights(archive, place.prefix, place.name);
  Constants constants;
  std::optional<Graph> found;
  Program program;
  while (!found) {
    program = parse_program(text, fmt::format("{}: {}", archive.where(), place.entry), sizes, constants);
    inline_graphs(program.graph);
    correct_states(program.graph);
    drop_checks(program);
    keep_shapes_of_selections(program.graph);
    for (const OutputSpec& output : program.outputs)
      if (output.kind != "user_output" && !is_new_state(output.kind))
        throw Error(
            fmt::format("{}: outputs: expected results and new state only, found a {}", archive.where(), output.kind));
    found = read_with(program, weights, constants);
  }
  Graph graph = *std::move(found);
  draw_whole_inputs(graph);
  graph.note = program.note;
  if (const std::string note = note_on_float64(program.graph); !note.empty())
    graph.note += (graph.note.empty() ? "" : "; ") + note;
  return graph;
}

}  // namespace
}  // namespace pt2

Graph read_pt2(const std::filesystem::path& file, const Symbols& sizes) {
  pt2::check_begin(file);
  const Zip archive(file);
  try {
    return pt2::read(archive, sizes);
  } catch (const Error& e) {
    const std::string message = e.what();
    if (message.starts_with(archive.where() + ": ")) throw;
    throw Error(fmt::format("{}: {}", archive.where(), message), e.exit());
  }
}

}  // namespace deplo::ir::torch
