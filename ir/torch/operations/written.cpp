// Functions of `.pt2` files whose definitions are written in the expression language
// (expression/functions/written_functions.cpp).
#include "ir/torch/operations/written.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace deplo::ir::torch {
namespace {

/// `schema`: the arguments as PyTorch's schema states them, without their defaults. Some have another name in an
/// overload. `definition`: the name of the definition, if it differs from the function's name after "aten.".
struct Written {
  std::string_view name, schema, definition = {};
};

/// The schema of functions that quantize a tensor as a whole, or each of its channels along `axis`.
constexpr std::string_view quantization =
    "Tensor self|input, Scalar scale|scales, Scalar zero_point|zero_points, Scalar quant_min, Scalar quant_max, "
    "int axis";

/// The schema of functions that reduce bags of rows of an embedding.
constexpr std::string_view bags =
    "Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, "
    "Tensor per_sample_weights, bool include_last_offset, int padding_idx";

constexpr auto written = std::to_array<Written>({
    {"aten.addbmm", "Tensor self, Tensor batch1, Tensor batch2, Scalar beta, Scalar alpha"},
    {"aten._int_mm", "Tensor self, Tensor mat2"},
    {"aten._weight_int8pack_mm", "Tensor self, Tensor mat2, Tensor scales"},
    {"aten.addmv", "Tensor self, Tensor mat, Tensor vec, Scalar beta, Scalar alpha"},
    {"aten.addr", "Tensor self, Tensor vec1, Tensor vec2, Scalar beta, Scalar alpha"},
    {"aten.aminmax", "Tensor self, int dim, bool keepdim"},
    {"aten.bartlett_window", "int window_length, bool periodic"},
    {"aten.blackman_window", "int window_length, bool periodic"},
    {"aten.block_diag", "Tensor[] *tensors"},
    {"aten.cartesian_prod", "Tensor[] *tensors"},
    {"aten.chain_matmul", "Tensor[] *matrices"},
    {"aten.column_stack", "Tensor[] tensors"},
    {"aten.count_nonzero", "Tensor self, int[] dim"},
    {"aten.cumulative_trapezoid", "Tensor y, Tensor x, Scalar dx, int dim"},
    {"aten.deg2rad", "Tensor self"},
    {"aten.det", "Tensor self"},
    {"aten.diagflat", "Tensor self, int offset"},
    {"aten.diagonal_scatter", "Tensor self, Tensor src, int offset, int dim1, int dim2"},
    {"aten.digamma", "Tensor self"},
    {"aten.dist", "Tensor self, Tensor other, float p"},
    {"aten._embedding_bag", bags, "program_embedding_bag"},
    {"aten._embedding_bag_forward_only", bags, "program_embedding_bag"},
    {"aten.embedding_bag", bags, "program_embedding_bag"},
    {"aten.fake_quantize_per_channel_affine", quantization, "fake_quantize"},
    {"aten.fake_quantize_per_channel_affine_cachemask", quantization, "fake_quantize"},
    {"aten.fake_quantize_per_tensor_affine", quantization, "fake_quantize"},
    {"aten.fake_quantize_per_tensor_affine_cachemask", quantization, "fake_quantize"},
    {"aten.fft_fftshift", "Tensor self, int[] dim", "fftshift"},
    {"aten.fft_ifftshift", "Tensor self, int[] dim", "ifftshift"},
    {"aten.fill_diagonal", "Tensor self, Scalar fill_value, bool wrap", "with_diagonal"},
    {"aten.float_power", "Scalar self, Scalar exponent"},
    {"aten.fmax", "Tensor self, Tensor other"},
    {"aten.fmin", "Tensor self, Tensor other"},
    {"aten.gcd", "Tensor self, Tensor other"},
    {"aten.ger", "Tensor self, Tensor vec2"},
    {"aten.hamming_window", "int window_length, bool periodic, float alpha, float beta"},
    {"aten.hann_window", "int window_length, bool periodic"},
    {"aten.heaviside", "Tensor self, Tensor values"},
    {"aten.i0", "Tensor self"},
    {"aten.inner", "Tensor self, Tensor other"},
    {"aten.inverse", "Tensor self"},
    {"aten.isclose", "Tensor self, Tensor other, float rtol, float atol, bool equal_nan"},
    {"aten.isin", "Scalar elements|element, Scalar test_elements|test_element, bool assume_unique, bool invert"},
    {"aten.isneginf", "Tensor self"},
    {"aten.isposinf", "Tensor self"},
    {"aten.isreal", "Tensor self"},
    {"aten.kthvalue", "Tensor self, int k, int dim, bool keepdim"},
    {"aten.lcm", "Tensor self, Tensor other"},
    {"aten.ldexp", "Tensor self, Tensor other"},
    {"aten.lgamma", "Tensor self"},
    {"aten._linalg_det", "Tensor self|A", "det"},
    {"aten.linalg_det", "Tensor self|A", "det"},
    {"aten.linalg_inv", "Tensor self|A", "inv"},
    {"aten.linalg_inv_ex", "Tensor self|A", "inv"},
    {"aten.linalg_matrix_power", "Tensor self, int n", "matrix_power"},
    {"aten.linalg_multi_dot", "Tensor[] tensors", "multi_dot"},
    {"aten.linalg_solve", "Tensor A, Tensor B, bool left", "solve"},
    {"aten._linalg_solve_ex", "Tensor A, Tensor B, bool left", "solve"},
    {"aten.linalg_solve_triangular", "Tensor A|self, Tensor B, bool upper, bool left, bool unitriangular",
     "solve_triangular"},
    {"aten.logaddexp2", "Tensor self, Tensor other"},
    {"aten.matrix_power", "Tensor self, int n"},
    {"aten.max_unpool2d", "Tensor self, Tensor indices, int[] output_size", "unpooled_to"},
    {"aten.max_unpool3d", "Tensor self, Tensor indices, int[] output_size, int[] stride, int[] padding", "unpooled_to"},
    {"aten.mode", "Tensor self, int dim, bool keepdim"},
    {"aten.msort", "Tensor self"},
    {"aten.multilabel_margin_loss", "Tensor self, Tensor target, Reduction reduction"},
    {"aten.nanmean", "Tensor self, int[] dim, bool keepdim"},
    {"aten.nanmedian", "Tensor self, int dim, bool keepdim"},
    {"aten.nansum", "Tensor self, int[] dim, bool keepdim"},
    {"aten.native_channel_shuffle", "Tensor self, int groups"},
    {"aten._pdist_forward", "Tensor self, float p", "pdist"},
    {"aten.pdist", "Tensor self, float p"},
    {"aten.quantile", "Tensor self, float q, int dim, bool keepdim, str interpolation"},
    {"aten.rad2deg", "Tensor self"},
    {"aten.rsub", "Scalar self, Scalar other, Scalar alpha"},
    {"aten.signbit", "Tensor self"},
    {"aten.sinc", "Tensor self"},
    {"aten.special_digamma", "Tensor self", "digamma"},
    {"aten.special_entr", "Tensor self", "entr"},
    {"aten.special_gammaln", "Tensor self", "lgamma"},
    {"aten.special_i0", "Tensor self", "i0"},
    {"aten.special_i0e", "Tensor self", "i0e"},
    {"aten.special_ndtr", "Tensor self", "ndtr"},
    {"aten.special_psi", "Tensor self", "digamma"},
    {"aten.special_sinc", "Tensor self", "sinc"},
    {"aten.special_xlog1py", "Scalar self, Scalar other", "xlog1py"},
    {"aten.special_xlogy", "Scalar self, Scalar other", "xlogy"},
    {"aten.tensordot", "Tensor self, Tensor other, int[] dims_self, int[] dims_other", "tensordot_of_dims"},
    {"aten.trapezoid", "Tensor y, Tensor x, Scalar dx, int dim"},
    {"aten.trapz", "Tensor y, Tensor x, Scalar dx, int dim"},
    {"aten.tril_indices", "int row, int col, int offset"},
    {"aten.triu_indices", "int row, int col, int offset"},
    {"aten.vdot", "Tensor self, Tensor other"},
    {"aten.xlogy", "Scalar self, Scalar other"},
    {"quantized_decomposed._choose_qparams_per_token_asymmetric_impl", "Tensor input",
     "choose_qparams_per_token_asymmetric"},
    {"quantized_decomposed.choose_qparams", "Tensor input, int quant_min, int quant_max, float eps", "choose_qparams"},
    {"quantized_decomposed.choose_qparams_per_token", "Tensor input", "choose_qparams_per_token"},
    {"quantized_decomposed.choose_qparams_per_token_asymmetric", "Tensor input", "choose_qparams_per_token_asymmetric"},
    {"quantized_decomposed.dequantize_per_channel", quantization, "dequantize"},
    {"quantized_decomposed.dequantize_per_channel_group",
     "Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, int group_size",
     "dequantize_per_channel_group"},
    {"quantized_decomposed.dequantize_per_tensor", quantization, "dequantize"},
    {"quantized_decomposed.dequantize_per_token",
     "Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max", "dequantize_per_token"},
    {"quantized_decomposed.quantize_per_channel", quantization, "quantize"},
    {"quantized_decomposed.quantize_per_channel_group",
     "Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, int group_size",
     "quantize_per_channel_group"},
    {"quantized_decomposed.quantize_per_tensor", quantization, "quantize"},
    {"quantized_decomposed.quantize_per_token",
     "Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max", "quantize_per_token"},
    {"torchao.choose_qparams_affine",
     "Tensor input, str mapping_type, int[] block_size, Scalar quant_min, Scalar quant_max, float eps, bool keepdim",
     "choose_qparams_affine"},
    {"torchao.dequantize_affine",
     "Tensor input, int[] block_size, Tensor scale, Tensor zero_point, Scalar quant_min, Scalar quant_max",
     "dequantize_affine"},
    {"torchao.quantize_affine",
     "Tensor input, int[] block_size, Tensor scale, Tensor zero_point, Scalar quant_min, Scalar quant_max",
     "quantize_affine"},
});

/// Collects the arguments of a call in a file for a definition.
class WrittenCall {
 public:
  WrittenCall(pt2::Call& call, python::Session& session, const ToValue& to_value)
      : call_(call), session_(session), to_value_(to_value) {}

  void add(std::string_view type, std::string_view name) {
    const bool rest = name.starts_with('*');
    if (rest) name.remove_prefix(1);
    const std::string_view plain = name.substr(0, name.find('|'));
    const std::string_view given = call_.has(plain) ? plain : name.substr(std::min(name.size(), plain.size() + 1));
    if (!call_.has(given)) return;
    const python::Value value = read(type, given);
    if (rest)
      arguments_.positional = *value.as<python::List>()->items;
    else
      arguments_.keywords.emplace_back(plain == "self" ? "input" : plain, value);
  }
  python::Arguments arguments() { return std::move(arguments_); }

 private:
  python::Value read(std::string_view type, std::string_view name) {
    if (type == "Tensor" || type == "Scalar") return to_value_(call_.operand(name));
    if (type == "int") return {call_.integer(name)};
    if (type == "float") return {call_.number(name, 0)};
    if (type == "bool") return {call_.flag(name, false)};
    if (type == "str") return {session_.text(call_.text(name, ""))};
    python::Values items;
    if (type == "int[]") {
      for (const std::int64_t n : call_.integers(name)) items.push_back({n});
      return session_.list(std::move(items));
    }
    if (type == "Tensor[]") {
      for (const Id id : call_.tensors(name)) items.push_back(to_value_(id));
      return session_.list(std::move(items));
    }
    CHECK(type == "Reduction");
    constexpr std::array<std::string_view, 3> reductions = {"none", "mean", "sum"};
    const std::int64_t reduction = call_.integer(name);
    if (reduction < 0 || reduction > 2) call_.fail(name, "0, 1 or 2");
    return {reductions[static_cast<std::size_t>(reduction)]};
  }

  pt2::Call& call_;
  python::Session& session_;
  const ToValue& to_value_;
  python::Arguments arguments_;
};

// Adds the calls of a definition's graph to the graph that is read.
std::vector<Id> copied(pt2::Call& call, const Graph& graph, const std::vector<Id>& inputs) {
  const Caller caller = caller_of(call);
  std::vector<Id> ids;
  std::size_t next = 0;
  for (const Node& node : graph.nodes) {
    if (node.kind == Node::Kind::input) {
      ids.push_back(inputs.at(next++));
    } else if (node.kind == Node::Kind::scalar) {
      ids.push_back(caller.scalar(node.value, node.wide ? DType::i64 : node.type.dtype));
    } else if (node.kind == Node::Kind::parameter) {
      ids.push_back(caller.list(*node.source.values));
    } else {
      std::vector<Id> args;
      for (const Id arg : node.args) args.push_back(ids[static_cast<std::size_t>(arg)]);
      ids.push_back(caller.call(node.op, std::move(args), node.attributes));
    }
  }
  std::vector<Id> outputs;
  for (const Id output : graph.outputs) outputs.push_back(ids[static_cast<std::size_t>(output)]);
  return outputs;
}

std::vector<Id> read_written(pt2::Call& call) {
  const auto found = std::ranges::find(written, call.function, &Written::name);
  CHECK(found != written.end());
  // The file states the result's type, and bounds of the numbers. PyTorch checks for singular matrices; here their
  // inverses are infinite or NaN.
  call.ignore({"dtype", "out_dtype", "output_dtype", "layout", "device", "pin_memory"});
  call.ignore({"input_dtype", "target_dtype", "scale_dtype", "zero_point_dtype", "check_errors"});
  const std::string_view definition = found->definition.empty() ? found->name.substr(5) : found->definition;
  return call_definition(call, definition, [&](python::Session& session, const ToValue& to_value) {
    WrittenCall arguments(call, session, to_value);
    for (std::string_view rest = found->schema; !rest.empty();) {
      const std::string_view parameter = rest.substr(0, rest.find(','));
      const std::size_t space = parameter.find(' ');
      arguments.add(parameter.substr(0, space), parameter.substr(space + 1));
      rest.remove_prefix(std::min(rest.size(), parameter.size() + 2));
    }
    return arguments.arguments();
  });
}

}  // namespace

// A tensor becomes a leaf, which is an input of the definition's graph.
std::vector<Id> call_definition(pt2::Call& call, std::string_view definition,
                                const std::function<python::Arguments(python::Session&, const ToValue&)>& arguments) {
  std::vector<Id> tensors;
  const Graph graph = python::call_written(definition, [&](python::Session& session) {
    return arguments(session, [&](Id id) -> python::Value {
      const Node& node = call.builder().node(id);
      if (node.kind == Node::Kind::scalar) {
        if (node.type.dtype == DType::boolean) return {node.value != 0};
        if (is_integer(node.type.dtype)) return {static_cast<std::int64_t>(node.value)};
        return {node.value};
      }
      tensors.push_back(id);
      python::Leaf* leaf = session.make_leaf(node.type, {}, false);
      session.tensor({leaf});
      return {leaf};
    });
  });
  return copied(call, graph, tensors);
}

Composites written_functions() {
  Composites result;
  for (const Written& function : written) result.readers.push_back({function.name, read_written});
  return result;
}

}  // namespace deplo::ir::torch
