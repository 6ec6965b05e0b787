// Lists the definitions that are written in the language itself, and the namespaces in which their names are found.
#include <string>
#include <vector>

#include "core/text/one_of.h"
#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace {

/// Names of these namespaces. A name that has different meanings in several namespaces is not the name of its
/// definition: this is `prefix` and the name or, for all of them, `definition`.
struct Written {
  unsigned spaces;
  std::vector<std::string_view> names;
  std::string_view prefix = {}, definition = {};
};

// clang-format off
const std::vector<Written>& written() {
  static const std::vector<Written> all = {
      {in_library, {"_pair", "_single", "_triple", "SimpleNamespace", "Variable", "cache", "cast", "field", "lru_cache",
                    "partial",
                    "script", "spectral_norm", "weight_norm", "wraps"}},
      {in_library, {"accumulate", "asdict", "contextmanager", "fields", "getLogger", "islice", "nullcontext",
                    "pairwise", "replace", "starmap", "zip_longest"}},
      {in_library, {"Bernoulli", "Categorical", "Independent", "Normal", "kl_divergence"}},
      {in_library, {"environ", "getenv"}},
      {in_torch | in_library, {"vmap"}},
      {in_library, {"autocast"}, "cuda_"},
      {in_library, {"combinations"}, "library_"},
      {in_library, {"basicConfig", "catch_warnings", "critical", "debug", "empty_cache", "error", "filterwarnings",
                    "info", "manual_seed", "manual_seed_all", "range_pop", "range_push", "record_function",
                    "simplefilter", "synchronize", "warn", "warning"},
       {}, "ignored"},
      {in_torch, {"set_num_threads", "set_printoptions", "use_deterministic_algorithms"}, {}, "ignored"},
      {in_math, {"comb", "dist", "factorial", "fsum", "hypot", "isclose", "isqrt", "lcm", "perm"}, "math_"},
      {in_python, {"complex", "pow"}},
      {in_operator, {"add", "floordiv", "itemgetter", "mul", "sub", "truediv"}, "operator_"},
      {in_init, {"dirac_", "eye_"}},
      {in_checkpoint, {"checkpoint"}},
      {in_parametrizations, {"spectral_norm", "weight_norm"}, "parametrized_"},
      {in_einops, {"einsum"}, "einops_"},
      {in_einops_layers, {"Rearrange", "Reduce"}},
      {in_numpy, {"arange", "array", "asarray", "eye", "full", "ones", "power", "zeros"}},
      {in_numpy, {"concatenate", "cos", "einsum", "exp", "linspace", "log", "meshgrid", "outer", "sin", "sqrt",
                  "stack"},
       "numpy_"},
      {in_torch, {"_assert", "compile", "complex", "from_numpy", "imag", "polar", "real", "view_as_complex",
                  "view_as_real"}},
      {in_torch, {"cdouble", "cfloat", "complex128", "complex64"}, {}, "complex64"},
      {in_special, {"entr", "expit", "gammaln", "i0e", "ndtr", "psi", "xlog1py"}},
      {in_fft, {"fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
                "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"}},
      {of_set, {"difference", "intersection", "isdisjoint", "issubset", "issuperset", "symmetric_difference", "union",
                "update"}, "set_"},
      {as_method, {"astype"}},
      {in_torch, {"atleast_1d", "atleast_2d", "atleast_3d", "bartlett_window", "blackman_window", "block_diag",
                  "cartesian_prod", "chain_matmul", "column_stack", "combinations", "concatenate",
                  "cumulative_trapezoid", "embedding", "finfo", "group_norm", "hamming_window",
                  "hann_window", "iinfo", "isin", "logspace", "row_stack", "rsub", "tensordot", "trapezoid", "trapz",
                  "spmm", "_int_mm", "tril_indices", "triu_indices"}},
      {either, {"istft", "stft"}},
      {either, {"addbmm", "addmm", "addmv", "addr", "adjoint", "aminmax", "angle", "baddbmm", "conj", "corrcoef",
                "count_nonzero", "cov", "deg2rad", "det", "diagflat", "diagonal_scatter", "digamma", "dist", "dsplit",
                "float_power", "fmax",
                "fmin", "gcd", "ger", "greater", "greater_equal", "heaviside", "hsplit", "i0", "inner",
                "inverse", "is_complex", "is_floating_point", "isclose", "isneginf", "isposinf", "isreal", "kthvalue",
                "lcm", "ldexp", "less",
                "less_equal", "lgamma", "logaddexp2", "matrix_power", "mode", "msort", "nanmean", "nanmedian", "nansum",
                "not_equal",
                "positive", "quantile", "rad2deg", "signbit", "sinc", "split_with_sizes", "swapdims", "tensor_split",
                "vdot", "vsplit", "xlogy"}},
      {as_method, {"cdouble", "cfloat"}, {}, "cfloat"},
      {as_method, {"element_size", "fill_diagonal_", "ndimension", "nelement", "new_tensor", "pin_memory",
                   "requires_grad_", "type"}},
      {in_linalg, {"det", "inv", "matrix_power", "multi_dot", "solve", "solve_triangular"}},
      {in_torch | in_functional, {"native_channel_shuffle", "pdist"}},
      {in_functional, {"alpha_dropout", "ctc_loss", "dropout1d", "dropout2d", "dropout3d", "embedding_bag",
                       "feature_alpha_dropout", "gumbel_softmax", "max_unpool1d", "max_unpool2d", "max_unpool3d",
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

/// Returns the first group with the name, or null.
const Written* find_written(unsigned spaces, std::string_view name) {
  for (const Written& group : written())
    if ((group.spaces & spaces) != 0 && is_one_of(name, group.names)) return &group;
  return nullptr;
}

}  // namespace

std::string_view written_text() {
  static const std::string text = std::string(written_library_text()) + std::string(written_functions_text()) +
                                  std::string(written_complex_text()) + std::string(written_fourier_text()) +
                                  std::string(written_modules_text()) + std::string(written_losses_text()) +
                                  std::string(written_distributions_text()) + std::string(written_program_text());
  return text;
}

std::string written_name(unsigned spaces, std::string_view name) {
  const Written* group = find_written(spaces, name);
  if (!group) return {};
  return group->definition.empty() ? std::string(group->prefix).append(name) : std::string(group->definition);
}

std::vector<std::string> written_names(unsigned spaces) {
  std::vector<std::string> names;
  for (const Written& group : written())
    if ((group.spaces & spaces) != 0) names.insert(names.end(), group.names.begin(), group.names.end());
  return names;
}

}  // namespace deplo::ir::torch::python
