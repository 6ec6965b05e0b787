// Graphs within a graph (torch.no_grad, autocast, torch.cond, scan).
#pragma once
#include "ir/torch/pt2/program/program.h"

namespace deplo::ir::torch::pt2 {

/// Replaces each node that calls an inner graph by the graph's nodes. An inner tensor gets the name of the result that
/// it becomes, or another name if its own is taken. torch.cond becomes both graphs, and a `where` for each result. scan
/// becomes a graph for each step. Throws Error `node 'x': expected …, found …`.
void inline_graphs(ProgramGraph&);

}  // namespace deplo::ir::torch::pt2
