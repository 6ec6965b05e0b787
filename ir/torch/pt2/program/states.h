// The shapes of an LSTM's last states, which PyTorch 2.5 to 2.9 state wrongly.
#pragma once
#include "ir/torch/pt2/program/program.h"

namespace deplo::ir::torch::pt2 {

/// Corrects the stated shapes of the last states of each aten.lstm, and of tensors that are computed from them. A
/// tensor whose shape is not known here becomes open: the reader takes the shape that the operation gives.
void correct_states(ProgramGraph&);

}  // namespace deplo::ir::torch::pt2
