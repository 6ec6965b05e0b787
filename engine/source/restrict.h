// Restricts the values that a knob may have. This makes a space small enough to be measured completely, or reduces it
// to the part of interest. experiments/smoke.yaml documents the format.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/target.h"
#include "core/trail.h"
#include "search/space.h"

namespace deplo::engine {

struct Restriction {
  // `rule.knob`, or a kernel file's parameter, which has no dot. A `*` at the end matches any suffix.
  std::string knob;
  std::vector<Value> values;  // at least one; "heuristic" stands for the fork's first option
  std::string place = {};     // where the restriction is written, for messages
};
/// If several restrictions match a knob, the last one counts.
using Restrictions = std::vector<Restriction>;

/// Returns the fork reduced to these options.
Fork with_options(const Fork& whole, const std::vector<std::size_t>& options);
/// Returns the indices of the allowed options, ascending. These are all options if no restriction matches the knob, and
/// otherwise the options that the restriction names. If the fork offers none of them, only 0 is returned, the rule's
/// own first option.
std::vector<std::size_t> allowed_options(const Fork&, const Restrictions&);

/// Returns true if the restrictions allow all these choices. No choice may be a heuristic's.
bool allows(const Restrictions&, const Trail& changes);
/// Returns true if the restriction's knob is a parameter of a kernel file.
bool is_of_kernel_file(const Restriction&);
/// Returns true if the restriction matches one of these knobs and names one of its options.
bool restricts(const Restriction&, std::span<const search::KnobInfo>);

/// Reads a map from knobs to lists of values, in the order of the file. Throws Error `file:line: …`, also for an
/// unknown rule.
Restrictions read_restrictions(const Config&);
/// Parses `KNOB=VALUE,VALUE,…`. A value of a kernel file's parameter may be empty: `MATH=`. Throws Error, prefixed by
/// `place`.
Restriction parse_restriction(const std::string& text, std::string_view place);

/// Returns the restrictions in configs/restrictions/NAME.yaml, or none for "none". Throws Error, prefixed by `place`.
/// The message lists the valid names.
Restrictions load_restrictions(const std::string& name, std::string_view place);
/// Returns the name of the restrictions that tuning uses by default: "gpu" on GPUs, "none" on CPUs.
std::string_view default_restrictions(const Target&);
/// Throws Error, prefixed by `place`, unless `name` is "none" or a name under configs/restrictions.
void check_restrictions(const std::string& name, std::string_view place);

/// Returns both lists of restrictions. If both match a knob, `last` counts.
Restrictions joined(Restrictions first, const Restrictions& last);

/// Returns a text such as `knob=1,4 knob=heuristic`. Equal texts mean equal restrictions.
std::string describe(const Restrictions&);

}  // namespace deplo::engine
