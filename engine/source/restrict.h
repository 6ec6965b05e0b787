// Restricts the values that a knob may have, so that a space is small enough to be measured completely, or contains
// only what is of interest. experiments/smoke.yaml documents the format.
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
  std::string knob;  // `rule.knob`, or a kernel file's parameter, which has no dot; a `*` at the end matches any ending
  std::vector<Value> values;  // at least one; the text "heuristic": the rule's own first option of that fork
  std::string place = {};     // where it is written, for messages
};
/// If several match a knob, the last one counts.
using Restrictions = std::vector<Restriction>;

/// The fork with these options alone.
Fork with_options(const Fork& whole, const std::vector<std::size_t>& options);
/// The indices of the options that are left, ascending: all if no restriction matches the knob, else those that the
/// restriction names. If the fork offers none of these: only 0, the rule's own first option.
std::vector<std::size_t> allowed_options(const Fork&, const Restrictions&);

/// Do the restrictions leave these choices, none of which is a heuristic's?
bool allows(const Restrictions&, const Trail& changes);
/// Is the knob a parameter of a kernel file?
bool is_of_kernel_file(const Restriction&);
/// Does it match one of these knobs, and name an option of it?
bool restricts(const Restriction&, std::span<const search::KnobInfo>);

/// Reads a map from knobs to lists of values, in the order of the file. Throws Error `file:line: …`, also for an
/// unknown rule.
Restrictions read_restrictions(const Config&);
/// Parses `KNOB=VALUE,VALUE,…`. Throws Error, prefixed by `place`.
Restriction parse_restriction(const std::string& text, std::string_view place);

/// The restrictions in configs/restrictions/NAME.yaml; none for "none". Throws Error, prefixed by `place`, that lists
/// the valid names.
Restrictions load_restrictions(const std::string& name, std::string_view place);
/// The name of the restrictions that tuning uses by default: "gpu" on GPUs, "none" on CPUs.
std::string_view default_restrictions(const Target&);
/// Throws Error, prefixed by `place`, unless `name` is "none" or a name under configs/restrictions.
void check_restrictions(const std::string& name, std::string_view place);

/// Both. If both match a knob, those of `last` count.
Restrictions joined(Restrictions first, const Restrictions& last);

/// `knob=1,4 knob=heuristic`. Equal texts mean equal restrictions.
std::string describe(const Restrictions&);

}  // namespace deplo::engine
