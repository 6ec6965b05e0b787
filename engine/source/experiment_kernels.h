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
  // Name of the entry's kernels: NAME for a single kernel, otherwise NAME.WHAT_IT_COMPUTES. "": the name in its kernel
  // file.
  std::string name;
  std::string place;  // file:line, for messages
  Inputs inputs = {};
  Restrictions restrictions = {};
  // nullopt: the objectives of a user's own space, or else the time
  std::optional<measure::Objectives> objectives = {};
  bool tf32_of_all = false;              // true: the entry itself does not say whether tf32 is allowed
  std::vector<ir::Symbols> shapes = {};  // shapes of a family; the sizes in them are missing in `source`
  // shapes that are ignored when the family's schedules are chosen
  std::vector<ir::Symbols> held_out = {};
};
/// Reads the source options among the map's keys.
SourceOptions read_source_options(const Config&);
/// Reads an entry. Names of files may be relative to `folder`. `all` has the options that hold unless the entry sets
/// them itself. The name of the entry gets the type from `all` as a suffix, unless that type is f32. Kernels that may
/// use tf32 because of `all` get the suffix tf32. Throws Error `file:line: …`.
Entry read_entry(const Config&, const std::filesystem::path& folder, const SourceOptions& all = {});

/// Returns the entry's kernel, or all kernels that its graph or tile program becomes for the target. `inputs` override
/// the entry's own inputs. Throws Error with the entry's place.
std::vector<KernelCase> kernels_of(Entry, Inputs& inputs, const Target&);

/// Adds the entry's kernels. If the entry is a graph, adds the graph as well.
void add(Experiment&, const Entry&, Inputs& inputs, const Target&);

/// Adds the kernels of each of the entry's shapes, and the family itself.
void add_family(Experiment&, const Entry&, Inputs& inputs, const Target&);

/// Returns a text that is equal for kernels that are tuned as one.
std::string identity(const KernelCase&);
/// Merges each group of equal kernels with equal restrictions into the first kernel of the group (KernelCase::same).
/// Throws Error if a name occurs twice.
std::vector<KernelCase> merge_equal(std::vector<KernelCase>);

}  // namespace deplo::engine
