// The entries of an experiment's `kernels:` list. experiments/smoke.yaml documents them.
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
  std::string name;   // of its kernels: NAME for a single one, else NAME.WHAT_IT_COMPUTES; "": that of its kernel file
  std::string place;  // file:line, for messages
  Inputs inputs = {};
  Restrictions restrictions = {};
  std::optional<measure::Objectives> objectives = {};  // nullopt: what a user's own space says, else the time
  bool tf32_of_all = false;                            // the entry itself does not say whether tf32 is allowed
  std::vector<ir::Symbols> shapes = {};                // of a family; `source` then lacks their sizes
  std::vector<ir::Symbols> held_out = {};  // shapes that do not count when the family's schedules are chosen
};
/// The options that the map's keys set.
SourceOptions read_source_options(const Config&);
/// Files may be named relative to `folder`. `all`: options for what the entry does not say itself. The entry's name
/// gets the type that `all` says as a suffix, unless it is f32. Kernels that may use tf32 because of `all` get the
/// suffix tf32. Throws Error `file:line: …`.
Entry read_entry(const Config&, const std::filesystem::path& folder, const SourceOptions& all = {});

/// The entry's kernel, or all kernels that its graph or its tile program becomes for the target. `inputs` override the
/// entry's own. Throws Error with the entry's place.
std::vector<KernelCase> kernels_of(Entry, Inputs& inputs, const Target&);

/// Adds these kernels, and the graph if the entry is one.
void add(Experiment&, const Entry&, Inputs& inputs, const Target&);

/// Adds the kernels of each of the entry's shapes, and the family.
void add_family(Experiment&, const Entry&, Inputs& inputs, const Target&);

/// Equal for kernels that are tuned as one.
std::string identity(const KernelCase&);
/// Merges equal kernels with equal restrictions into the first of them, which counts for all. Throws Error if a name
/// occurs twice.
std::vector<KernelCase> merge_equal(std::vector<KernelCase>);

}  // namespace deplo::engine
