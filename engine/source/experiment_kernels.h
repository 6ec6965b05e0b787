// The entries of an experiment's `kernels:` list. docs in experiments/smoke.yaml.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/config.h"
#include "engine/source/experiment.h"
#include "engine/source/source.h"

namespace deplo::engine {

struct Entry {
  Source source;
  std::string name;   // of its kernels: NAME where there is one, else NAME.WHAT_IT_COMPUTES
  std::string place;  // file:line, for messages
  Inputs inputs = {};
  Restrictions restrictions = {};
  bool tf32_of_all = false;  // whether tf32 is allowed is not the entry's own word
};
/// The options that keys of the map name.
SourceOptions read_source_options(const Config&);
/// Files may be named as seen from `folder`. `all`: what the entry does not say itself. Names end in what `all` says of
/// types: entries in the type unless it is f32, kernels in tf32 where they may take that. Throws Error `file:line: …`.
Entry read_entry(const Config&, const std::filesystem::path& folder, const SourceOptions& all = {});

/// A kernel, or all that a graph becomes for such a target or a tile program becomes. `inputs` come after the entry's own. Throws Error with the
/// entry's place.
std::vector<KernelCase> kernels_of(Entry, Inputs& inputs, const Target&);

/// Equal kernels with equal restrictions become one, the first, that counts for all. Throws Error where a name comes
/// twice.
std::vector<KernelCase> merge_equal(std::vector<KernelCase>);

}  // namespace deplo::engine
