// The kernels that a command line is about: one by name, or what a graph becomes.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/source/graph.h"
#include "engine/source/inputs.h"
#include "ir/module.h"

namespace deplo::engine {

struct KernelSelection {
  std::string kernel;  // a name or a .loop file; "": the graph
  ir::Symbols symbols;
  GraphSource graph;
  std::optional<std::string> only;  // a kernel's number or name: the others are left out
  bool is_empty() const;
};
/// Throws Error unless there is exactly one source, with symbols and --only where they say something.
void check_source(const KernelSelection&);

struct NumberedKernel {
  std::size_t number = 0;  // in its graph
  ir::Program loop;
};
/// All kernels, or the one that `only` names. Throws Error with the names there are.
std::vector<NumberedKernel> pick_kernels(const ir::Module&, const std::optional<std::string>& only);
/// Reads what the source names, with every pass, and gives it the inputs, all of which must be there.
std::vector<NumberedKernel> read_kernels(const KernelSelection&, Inputs = {});

}  // namespace deplo::engine
