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
      {in_checkpoint, {"checkpoint"}},
      {in_parametrizations, {"spectral_norm", "weight_norm"}},
      {in_einops, {"einsum"}},
      {in_einops_layers, {"Rearrange", "Reduce"}},
      {in_numpy, {"arange", "array", "asarray", "eye", "full", "ones", "power", "zeros"}},
      {in_torch, {"compile", "complex", "from_numpy", "imag", "polar", "real", "view_as_complex", "view_as_real"}},
      {in_special, {"entr", "expit", "gammaln", "ndtr", "psi", "xlog1py"}},
      {in_fft, {"fft", "fft2", "fftfreq", "fftn", "fftshift", "ifft", "ifft2", "ifftn", "ifftshift", "irfft", "irfft2",
                "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"}},
      {of_set, {"difference", "intersection", "isdisjoint", "issubset", "issuperset", "symmetric_difference", "union",
                "update"}},
      {as_method, {"astype"}},
      {in_torch, {"atleast_1d", "atleast_2d", "atleast_3d", "bartlett_window", "blackman_window", "block_diag",
                  "cartesian_prod",                  "chain_matmul", "column_stack", "concatenate", "embedding", "finfo", "group_norm", "hamming_window",
                  "hann_window", "iinfo", "isin", "logspace", "row_stack", "rsub", "tensordot", "trapezoid", "trapz",
                  "spmm", "_int_mm", "tril_indices", "triu_indices"}},
      {either, {"addbmm", "addmm", "addmv", "addr", "adjoint", "aminmax", "angle", "baddbmm", "conj", "corrcoef",
                "count_nonzero", "cov", "deg2rad", "diagflat", "diagonal_scatter", "digamma", "dist", "dsplit", "float_power", "fmax",
                "fmin", "ger", "greater", "greater_equal", "heaviside", "hsplit", "inner", "is_complex",
                "is_floating_point", "isclose", "isneginf", "isposinf", "isreal", "kthvalue", "ldexp", "less",
                "less_equal", "lgamma", "logaddexp2", "matrix_power", "msort", "nanmean", "nansum", "not_equal",
                "positive", "quantile", "rad2deg", "signbit", "sinc", "split_with_sizes", "swapdims", "tensor_split",
                "vdot", "vsplit", "xlogy"}},
      {as_method, {"fill_diagonal_", "is_contiguous", "ndimension", "nelement", "new_tensor", "pin_memory",
                   "requires_grad_", "type"}},
      {in_linalg, {"matrix_power", "multi_dot"}},
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
