// The modules of torch.nn that have parameters, hold other modules, or call no operation.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/operators.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {
namespace {

DType parameter_dtype(const Call& c) {
  const DType dtype = c.dtype("dtype", c.session.default_dtype);
  if (!is_float(dtype)) c.fail("dtype", "a dtype of floats");
  return dtype;
}

void add_parameter(const Call& c, Object& o, std::string_view name, Shape shape, Fill fill) {
  Leaf* leaf = c.session.make_leaf({parameter_dtype(c), std::move(shape)}, fill, true);
  c.session.give_name({leaf}, &o, name);
  o.attributes.insert_or_assign(std::string(name), Value{leaf});
}

std::int64_t extent(const Call& c, std::string_view parameter) {
  const std::int64_t n = c.integer(parameter);
  if (n < 1) c.fail(parameter, "at least 1");
  return n;
}

// PyTorch's usual distribution: uniform in ±1/sqrt(in).
Fill uniform(std::int64_t in) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  return {Fill::Draw::uniform, -bound, bound};
}

// Adds a weight and, if the argument `bias` is set, a bias with an element for each of `out` results. `in`: the number
// of elements in the sum of one result.
void add_weight_and_bias(const Call& c, Object& o, const Shape& weight, std::int64_t out, std::int64_t in) {
  add_parameter(c, o, "weight", weight, uniform(in));
  const bool bias = c.truth("bias");
  o.attributes.insert_or_assign("bias", Value{});
  if (bias) add_parameter(c, o, "bias", {out}, uniform(in));
}

void build_linear(const Call& c, Object& o) {
  const std::int64_t in = extent(c, "in_features"), out = extent(c, "out_features");
  add_weight_and_bias(c, o, {out, in}, out, in);
}

// PyTorch uses ones and zeros here, which would hide a kernel that omits the weight.
constexpr Fill norm_weight = {Fill::Draw::uniform, 0.5, 1.5};
constexpr Fill norm_bias = {Fill::Draw::uniform, -0.5, 0.5};

void build_rms_norm(const Call& c, Object& o) {
  o.attributes.insert_or_assign("normalized_shape", python::make_tuple(c.integers("normalized_shape")));
  if (c.truth("elementwise_affine")) add_parameter(c, o, "weight", c.integers("normalized_shape"), norm_weight);
}

void build_layer_norm(const Call& c, Object& o) {
  const bool affine = c.truth("elementwise_affine"), bias = c.truth("bias");
  o.attributes.insert_or_assign("bias", Value{});
  o.attributes.insert_or_assign("normalized_shape", python::make_tuple(c.integers("normalized_shape")));
  if (affine) add_parameter(c, o, "weight", c.integers("normalized_shape"), norm_weight);
  if (affine && bias) add_parameter(c, o, "bias", c.integers("normalized_shape"), norm_bias);
}

void build_embedding(const Call& c, Object& o) {
  add_parameter(c, o, "weight", {extent(c, "num_embeddings"), extent(c, "embedding_dim")}, {Fill::Draw::normal, 0, 1});
}

// Returns the number of dimensions in a module's name: 2 for "Conv2d".
std::size_t dims_of(const Call& c) { return static_cast<std::size_t>(c.name[c.name.find_first_of("123")] - '0'); }

/// Sets an attribute with one number per dimension from an argument that may be a single number.
void spread(const Call& c, Object& o, std::string_view argument) {
  if (const auto* number = c.value(argument).as<std::int64_t>())
    o.attributes.insert_or_assign(std::string(argument), python::make_tuple(Shape(dims_of(c), *number)));
}

template <bool transposed>
void build_conv(const Call& c, Object& o) {
  const std::int64_t in = extent(c, "in_channels"), out = extent(c, "out_channels"), groups = extent(c, "groups");
  if (in % groups != 0) c.fail("in_channels", fmt::format("a multiple of the {} groups", groups));
  if (out % groups != 0) c.fail("out_channels", fmt::format("a multiple of the {} groups", groups));
  const std::string_view mode = c.text("padding_mode");
  if (mode != "zeros" && (transposed || (mode != "reflect" && mode != "replicate" && mode != "circular")))
    c.fail("padding_mode", transposed ? "'zeros'" : "'zeros', 'reflect', 'replicate' or 'circular'");
  Shape kernel = c.integers("kernel_size");
  if (kernel.size() == 1) kernel.resize(dims_of(c), kernel[0]);
  if (kernel.size() != dims_of(c)) c.fail("kernel_size", fmt::format("a number or {}", dims_of(c)));
  Shape shape = transposed ? Shape{in, out / groups} : Shape{out, in / groups};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  for (const std::string_view argument : {"kernel_size", "stride", "padding", "dilation"}) spread(c, o, argument);
  for (const std::int64_t n : kernel)
    if (n < 1) c.fail("kernel_size", "at least 1");
  add_weight_and_bias(c, o, shape, out, element_count(shape) / shape[0]);
}

void add_affine(const Call& c, Object& o, const Shape& channels) {
  if (!c.truth("affine")) return;
  add_parameter(c, o, "weight", channels, norm_weight);
  add_parameter(c, o, "bias", channels, norm_bias);
}

// The statistics are not 0 and 1, because these would hide a kernel that omits them.
void build_batch_norm(const Call& c, Object& o) {
  const Shape channels = {extent(c, "num_features")};
  if (!c.truth("track_running_stats")) o.attributes.insert_or_assign("training", Value{true});
  add_affine(c, o, channels);
  if (c.truth("track_running_stats")) {
    add_parameter(c, o, "running_mean", channels, norm_bias);
    add_parameter(c, o, "running_var", channels, norm_weight);
    const Attributes zero = {{"shape", Shape{}}, {"value", 0.0}, {"dtype", DType::i64}};
    o.attributes.insert_or_assign("num_batches_tracked", {Tensor{c.session.call("full", {}, zero, "batches")}});
  } else {
    for (const char* name : {"running_mean", "running_var", "num_batches_tracked"})
      o.attributes.insert_or_assign(name, Value{});
  }
}

void build_instance_norm(const Call& c, Object& o) {
  const Shape channels = {extent(c, "num_features")};
  if (c.truth("track_running_stats")) c.fail("track_running_stats", "False (no other value is supported)");
  add_affine(c, o, channels);
}

void build_group_norm(const Call& c, Object& o) {
  const Shape channels = {extent(c, "num_channels")};
  if (extent(c, "num_channels") % extent(c, "num_groups") != 0)
    c.fail("num_channels", fmt::format("a multiple of the {} groups", c.integer("num_groups")));
  add_affine(c, o, channels);
}

void build_prelu(const Call& c, Object& o) {
  add_parameter(c, o, "weight", {extent(c, "num_parameters")}, {Fill::Draw::constant, c.number("init"), 0});
}

void build_bilinear(const Call& c, Object& o) {
  const std::int64_t in1 = extent(c, "in1_features"), out = extent(c, "out_features");
  add_weight_and_bias(c, o, {out, in1, extent(c, "in2_features")}, out, in1);
}

// The weights are attributes with PyTorch's names. A list of all weights is an argument of the function.
template <int gates>
void build_recurrent(const Call& c, Object& o) {
  const std::int64_t size = extent(c, "hidden_size"), in = extent(c, "input_size");
  const std::int64_t directions = c.flag("bidirectional") ? 2 : 1, layers = extent(c, "num_layers");
  if (layers * directions > 100) c.fail("num_layers", "at most 100 layers and directions");
  Values weights;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    for (std::int64_t d = 0; d < directions; ++d) {
      const auto add = [&](std::string_view kind, const Shape& shape) {
        const std::string name = fmt::format("{}_l{}{}", kind, layer, d == 1 ? "_reverse" : "");
        add_parameter(c, o, name, shape, uniform(size));
        weights.push_back(o.attributes.find(name)->second);
      };
      add("weight_ih", {gates * size, layer == 0 ? in : size * directions});
      add("weight_hh", {gates * size, size});
      if (!c.flag("bias")) continue;
      add("bias_ih", {gates * size});
      add("bias_hh", {gates * size});
    }
  o.attributes.insert_or_assign("weights", make_list(std::move(weights)));
}

// Builds a container. The parameters of its items are named by the items' positions or keys.
void build_list(const Call& c, Object& o) {
  o.attributes.erase("modules");
  if (!c.given("modules")) return;
  const Value& given = c.value("modules");
  const List* only = given.as<List>();
  auto* const* dict = given.as<Dict*>();
  if (!dict && only && only->items->size() == 1) dict = (*only->items)[0].as<Dict*>();  // Sequential(OrderedDict(…))
  if (dict) return add_named(c, o, **dict);
  if (!only && !given.as<Object*>()) c.fail("modules", "modules");
  if (c.name.ends_with("Dict")) {  // pairs of a name and a module
    for (const Value& pair : items_of(c.session, given)) {
      const Values both = items_to_unpack(c.session, pair);
      if (both.size() != 2 || !both[0].as<std::string_view>()) c.fail("modules", "modules by names");
      add_module(c.session, o, *both[0].as<std::string_view>(), both[1]);
    }
    return;
  }
  append_modules(c.session, o, given);
}

// clang-format off
constexpr std::string_view conv = "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, "
    "groups=1, bias=True, padding_mode='zeros', device=None, dtype=None";
constexpr std::string_view transposed_conv = "in_channels, out_channels, kernel_size, stride=1, padding=0, "
    "output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None";
constexpr std::string_view channel_norm = "num_features, eps=1e-05, momentum=0.1, affine=True, "
    "track_running_stats=True, device=None, dtype=None";
constexpr std::string_view instance_norm = "num_features, eps=1e-05, momentum=0.1, affine=False, "
    "track_running_stats=False, device=None, dtype=None";
constexpr std::string_view recurrent = "input_size, hidden_size, num_layers=1, bias=True, batch_first=False, "
    "dropout=0.0, bidirectional=False, device=None, dtype=None";
constexpr std::array modules = {
    ModuleType{"Linear", "in_features, out_features, bias=True, device=None, dtype=None", "linear", build_linear},
    ModuleType{"RMSNorm", "normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None", "rms_norm",
               build_rms_norm},
    ModuleType{"LayerNorm", "normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None",
               "layer_norm", build_layer_norm},
    ModuleType{"Embedding", "num_embeddings, embedding_dim, padding_idx=None, *, device=None, dtype=None", "embedding",
               build_embedding},
    ModuleType{"Conv1d", conv, "Conv1d", build_conv<false>},
    ModuleType{"ConvTranspose1d", transposed_conv, "conv_transpose1d", build_conv<true>},
    ModuleType{"BatchNorm1d", channel_norm, "batch_norm", build_batch_norm},
    ModuleType{"InstanceNorm1d", instance_norm, "instance_norm", build_instance_norm},
    ModuleType{"Conv2d", conv, "Conv2d", build_conv<false>},
    ModuleType{"ConvTranspose2d", transposed_conv, "conv_transpose2d", build_conv<true>},
    ModuleType{"BatchNorm2d", channel_norm, "batch_norm", build_batch_norm},
    ModuleType{"InstanceNorm2d", instance_norm, "instance_norm", build_instance_norm},
    ModuleType{"Conv3d", conv, "Conv3d", build_conv<false>},
    ModuleType{"ConvTranspose3d", transposed_conv, "conv_transpose3d", build_conv<true>},
    ModuleType{"BatchNorm3d", channel_norm, "batch_norm", build_batch_norm},
    ModuleType{"InstanceNorm3d", instance_norm, "instance_norm", build_instance_norm},
    ModuleType{"GroupNorm", "num_groups, num_channels, eps=1e-05, affine=True, device=None, dtype=None", "group_norm",
               build_group_norm},
    ModuleType{"PReLU", "num_parameters=1, init=0.25, device=None, dtype=None", "prelu", build_prelu},
    ModuleType{"Bilinear", "in1_features, in2_features, out_features, bias=True, device=None, dtype=None", "bilinear",
               build_bilinear},
    ModuleType{"LSTM", recurrent, "lstm", build_recurrent<4>},
    ModuleType{"GRU", recurrent, "gru", build_recurrent<3>},
    ModuleType{"RNN",
               "input_size, hidden_size, num_layers=1, nonlinearity='tanh', bias=True, batch_first=False, "
               "dropout=0.0, bidirectional=False, device=None, dtype=None", "rnn", build_recurrent<1>},
    ModuleType{"CrossEntropyLoss",
               "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0",
               "cross_entropy"},
    ModuleType{"NLLLoss", "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
               "nll_loss"},
    ModuleType{"Dropout", "p=0.5, inplace=False", "dropout"},
    ModuleType{"Identity", "*args, **options", "detach"},
    ModuleType{"Flatten", "start_dim=1, end_dim=-1", "flatten"},
    ModuleType{"Sequential", "*modules", "", build_list},
    ModuleType{"ModuleList", "modules=None", "", build_list},
    ModuleType{"ModuleDict", "modules=None", "", build_list},
    ModuleType{"ParameterList", "modules=None", "", build_list},
    ModuleType{"ParameterDict", "modules=None", "", build_list},
};
// clang-format on

}  // namespace

void add_named(const Call& c, Object& object, const Dict& modules) {
  for (const auto& [key, item] : modules.items) {
    if (!key.as<std::string_view>()) c.fail("modules", "modules by names");
    add_module(c.session, object, *key.as<std::string_view>(), item);
  }
}

std::span<const ModuleType> other_modules() { return modules; }

}  // namespace deplo::ir::torch::python
