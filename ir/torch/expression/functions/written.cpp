// Which definitions are written in the language itself, and where their names are found.
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
      {in_torch, {"atleast_1d", "atleast_2d", "atleast_3d", "bartlett_window", "blackman_window", "block_diag",
                  "chain_matmul", "column_stack", "concatenate", "embedding", "finfo", "group_norm", "hamming_window",
                  "hann_window", "iinfo", "isin", "logspace", "row_stack", "rsub", "tensordot", "trapezoid", "trapz",
                  "tril_indices", "triu_indices"}},
      {either, {"addbmm", "addmm", "addmv", "addr", "adjoint", "aminmax", "baddbmm", "corrcoef", "count_nonzero", "cov",
                "deg2rad", "diagflat", "dist", "dsplit", "fmax", "fmin", "ger", "greater", "greater_equal", "heaviside",
                "hsplit", "inner", "is_complex", "is_floating_point", "isclose", "isneginf", "isposinf", "isreal",
                "kthvalue", "ldexp", "less", "less_equal", "logaddexp2", "matrix_power", "msort", "nanmean", "nansum",
                "not_equal", "positive", "quantile", "rad2deg", "signbit", "sinc", "split_with_sizes", "swapdims",
                "tensor_split", "vdot", "vsplit", "xlogy"}},
      {as_method, {"is_contiguous", "ndimension", "nelement", "new_tensor", "pin_memory", "requires_grad_"}},
      {in_linalg, {"matrix_power", "multi_dot"}},
      {in_torch | in_functional, {"native_channel_shuffle", "pdist"}},
      {in_functional, {"ctc_loss", "embedding_bag", "max_unpool1d", "max_unpool2d", "max_unpool3d",
                       "multilabel_margin_loss", "triplet_margin_with_distance_loss", "upsample_bilinear",
                       "upsample_nearest"}},
      {in_nn, {"AdaptiveLogSoftmaxWithLoss", "AlphaDropout", "CTCLoss", "CircularPad1d", "CircularPad2d",
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

}  // namespace

std::string_view written_text() {
  static const std::string text =
      std::string(written_functions_text()) + std::string(written_modules_text()) + std::string(written_losses_text());
  return text;
}

bool is_written(std::string_view space, std::string_view name) {
  return space == "functools" ? name == "partial" : is_written(functions_of(space), name);
}

bool is_written(unsigned spaces, std::string_view name) {
  return std::ranges::any_of(written(), [&](const Written& some) {
    return (some.spaces & spaces) != 0 && std::ranges::find(some.names, name) != some.names.end();
  });
}

std::vector<std::string> written_names(unsigned spaces) {
  std::vector<std::string> names;
  for (const Written& some : written())
    if ((some.spaces & spaces) != 0) names.insert(names.end(), some.names.begin(), some.names.end());
  return names;
}

}  // namespace deplo::ir::torch::python
