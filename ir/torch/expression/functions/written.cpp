// Lists the definitions that are written in the language itself, and the namespaces in which their names are found.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace {

struct Written {
  unsigned spaces;
  std::vector<std::string_view> names;
};

// clang-format off
const std::vector<Written>& written() {
  static const std::vector<Written> all = {
      {in_library, {"_pair", "_single", "_triple", "SimpleNamespace", "Variable", "cache", "cast", "field", "lru_cache", "partial",
                    "script", "spectral_norm", "weight_norm", "wraps"}},
      {in_library, {"accumulate", "autocast", "basicConfig", "catch_warnings", "combinations", "critical", "debug",
                    "empty_cache", "error", "filterwarnings", "getLogger", "info", "manual_seed", "manual_seed_all",
                    "simplefilter", "synchronize", "warn", "warning"}},
      {in_math, {"comb", "dist", "factorial", "fsum", "hypot", "isclose", "isqrt", "lcm", "perm"}},
      {in_python, {"pow"}},
      {in_operator, {"add", "floordiv", "itemgetter", "mul", "sub", "truediv"}},
      {in_init, {"dirac_", "eye_"}},
      {in_checkpoint, {"checkpoint"}},
      {in_parametrizations, {"spectral_norm", "weight_norm"}},
      {in_einops, {"einsum"}},
      {in_einops_layers, {"Rearrange", "Reduce"}},
      {in_numpy, {"arange", "array", "asarray", "eye", "full", "ones", "power", "zeros"}},
      {in_torch, {"compile", "complex", "from_numpy", "imag", "polar", "real", "view_as_complex", "view_as_real"}},
      {in_special, {"entr", "expit", "gammaln", "i0e", "ndtr", "psi", "xlog1py"}},
      {in_fft, {"fft", "fft2", "fftfreq", "fftn", "fftshift", "ifft", "ifft2", "ifftn", "ifftshift", "irfft", "irfft2",
                "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"}},
      {of_set, {"difference", "intersection", "isdisjoint", "issubset", "issuperset", "symmetric_difference", "union",
                "update"}},
      {as_method, {"astype"}},
      {in_torch, {"atleast_1d", "atleast_2d", "atleast_3d", "bartlett_window", "blackman_window", "block_diag",
                  "cartesian_prod",                  "chain_matmul", "column_stack", "combinations", "concatenate", "cumulative_trapezoid", "embedding", "finfo", "group_norm", "hamming_window",
                  "hann_window", "iinfo", "isin", "logspace", "row_stack", "rsub", "tensordot", "trapezoid", "trapz",
                  "spmm", "_int_mm", "tril_indices", "triu_indices"}},
      {either, {"addbmm", "addmm", "addmv", "addr", "adjoint", "aminmax", "angle", "baddbmm", "conj", "corrcoef",
                "count_nonzero", "cov", "deg2rad", "det", "diagflat", "diagonal_scatter", "digamma", "dist", "dsplit", "float_power", "fmax",
                "fmin", "ger", "greater", "greater_equal", "heaviside", "hsplit", "i0", "inner", "inverse", "is_complex",
                "is_floating_point", "isclose", "isneginf", "isposinf", "isreal", "kthvalue", "ldexp", "less",
                "less_equal", "lgamma", "logaddexp2", "matrix_power", "mode", "msort", "nanmean", "nanmedian", "nansum", "not_equal",
                "positive", "quantile", "rad2deg", "signbit", "sinc", "split_with_sizes", "swapdims", "tensor_split",
                "vdot", "vsplit", "xlogy"}},
      {as_method, {"element_size", "fill_diagonal_", "is_contiguous", "ndimension", "nelement", "new_tensor", "pin_memory",
                   "requires_grad_", "type"}},
      {in_linalg, {"det", "inv", "matrix_power", "multi_dot", "solve"}},
      {in_torch | in_functional, {"native_channel_shuffle", "pdist"}},
      {in_functional, {"alpha_dropout", "ctc_loss", "dropout1d", "dropout2d", "dropout3d", "embedding_bag", "feature_alpha_dropout", "max_unpool1d", "max_unpool2d", "max_unpool3d",
                       "multilabel_margin_loss", "triplet_margin_with_distance_loss", "upsample_bilinear",
                       "upsample_nearest"}},
      {in_nn, {"AdaptiveLogSoftmaxWithLoss", "AlphaDropout", "Buffer", "CTCLoss", "CircularPad1d", "CircularPad2d",
               "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Dropout1d",
               "Dropout2d", "Dropout3d", "EmbeddingBag", "FeatureAlphaDropout", "GRUCell", "LSTMCell", "MaxUnpool1d",
               "MaxUnpool2d", "MaxUnpool3d", "MultiLabelMarginLoss", "MultiheadAttention", "NLLLoss2d", "RNNCell",
               "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
               "ReplicationPad3d", "SyncBatchNorm", "Transformer", "TransformerDecoder", "TransformerDecoderLayer",
               "TransformerEncoder", "TransformerEncoderLayer", "TripletMarginWithDistanceLoss", "Unflatten",
               "UpsamplingBilinear2d", "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"}},
      {in_nn, {"RNNBase", "_AvgPoolNd", "_BatchNorm", "_ConvNd", "_ConvTransposeNd", "_DropoutNd", "_InstanceNorm",
               "_MaxPoolNd", "_NormBase"}},
  };
  return all;
}
// clang-format on

/// A name that has different meanings in several namespaces.
struct Renamed {
  unsigned spaces;
  std::string_view name, definition;
};
constexpr std::array renamed = {Renamed{in_parametrizations, "spectral_norm", "parametrized_spectral_norm"},
                                Renamed{in_parametrizations, "weight_norm", "parametrized_weight_norm"},
                                Renamed{in_einops, "einsum", "einops_einsum"},
                                Renamed{in_library, "combinations", "library_combinations"},
                                Renamed{in_library, "autocast", "cuda_autocast"},
                                Renamed{in_operator, "add", "operator_add"},
                                Renamed{in_operator, "floordiv", "operator_floordiv"},
                                Renamed{in_operator, "itemgetter", "operator_itemgetter"},
                                Renamed{in_operator, "mul", "operator_mul"},
                                Renamed{in_operator, "sub", "operator_sub"},
                                Renamed{in_operator, "truediv", "operator_truediv"},
                                Renamed{in_library, "basicConfig", "ignored"},
                                Renamed{in_library, "catch_warnings", "ignored"},
                                Renamed{in_library, "critical", "ignored"},
                                Renamed{in_library, "debug", "ignored"},
                                Renamed{in_library, "empty_cache", "ignored"},
                                Renamed{in_library, "error", "ignored"},
                                Renamed{in_library, "filterwarnings", "ignored"},
                                Renamed{in_library, "info", "ignored"},
                                Renamed{in_library, "manual_seed", "ignored"},
                                Renamed{in_library, "manual_seed_all", "ignored"},
                                Renamed{in_library, "simplefilter", "ignored"},
                                Renamed{in_library, "synchronize", "ignored"},
                                Renamed{in_library, "warn", "ignored"},
                                Renamed{in_library, "warning", "ignored"},
                                Renamed{in_math, "comb", "math_comb"},
                                Renamed{in_math, "dist", "math_dist"},
                                Renamed{in_math, "factorial", "math_factorial"},
                                Renamed{in_math, "fsum", "math_fsum"},
                                Renamed{in_math, "hypot", "math_hypot"},
                                Renamed{in_math, "isclose", "math_isclose"},
                                Renamed{in_math, "isqrt", "math_isqrt"},
                                Renamed{in_math, "lcm", "math_lcm"},
                                Renamed{in_math, "perm", "math_perm"},
                                Renamed{of_set, "difference", "set_difference"},
                                Renamed{of_set, "intersection", "set_intersection"},
                                Renamed{of_set, "isdisjoint", "set_isdisjoint"},
                                Renamed{of_set, "issubset", "set_issubset"},
                                Renamed{of_set, "issuperset", "set_issuperset"},
                                Renamed{of_set, "symmetric_difference", "set_symmetric_difference"},
                                Renamed{of_set, "union", "set_union"},
                                Renamed{of_set, "update", "set_update"}};

}  // namespace

std::string_view written_text() {
  static const std::string text = std::string(written_library_text()) + std::string(written_functions_text()) +
                                  std::string(written_fourier_text()) + std::string(written_modules_text()) +
                                  std::string(written_losses_text());
  return text;
}

std::string_view written_name(unsigned spaces, std::string_view name) {
  if (!is_written(spaces, name)) return {};
  for (const auto& [of, plain, definition] : renamed)
    if ((spaces & of) != 0 && plain == name) return definition;
  return name;
}

bool is_written(unsigned spaces, std::string_view name) {
  return std::ranges::any_of(written(), [&](const Written& group) {
    return (group.spaces & spaces) != 0 && std::ranges::find(group.names, name) != group.names.end();
  });
}

std::vector<std::string> written_names(unsigned spaces) {
  std::vector<std::string> names;
  for (const Written& group : written())
    if ((group.spaces & spaces) != 0) names.insert(names.end(), group.names.begin(), group.names.end());
  return names;
}

}  // namespace deplo::ir::torch::python
