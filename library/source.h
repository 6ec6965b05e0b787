// Private to library/: what a Source becomes.
#pragma once
#include <string>
#include <vector>

#include "deplo/deplo.h"
#include "ir/module.h"

namespace deplo {

/// Throws Error unless the source is exactly one of the four.
void check(const Source&);
/// A kernel of its own is a module of one. Throws Error.
ir::Module read_module(const Source&);
/// Of the module's kernels, as the caller knows them.
std::string kernel_name(const Source&, const ir::Module&, const ir::Program& kernel);
/// The source as an entry of an experiment's `kernels:`, in JSON, which is YAML.
std::string experiment_entry(const Source&);

}  // namespace deplo
