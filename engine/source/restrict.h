// Restricted spaces: which values a knob may have, so that a space is small enough to be measured whole, or keeps to
// what is of interest. docs in experiments/smoke.yaml.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/target.h"
#include "core/trail.h"

namespace deplo::engine {

struct Restriction {
  std::string knob;           // `rule.knob`; a `*` at the end stands for any rest
  std::vector<Value> values;  // at least one; the text "heuristic": the rule's own first option of that fork
};
/// Of several that match a knob the last one counts.
using Restrictions = std::vector<Restriction>;

/// The numbers of the options that are left, ascending: those that the restriction names; 0 alone, the rule's own
/// first, where it names none that is offered. All where no restriction matches.
std::vector<std::size_t> allowed_options(const Fork&, const Restrictions&);

/// A map from knobs to lists of values, in the order of the file. Throws Error `file:line: …`; also for a name that is
/// no rule's.
Restrictions read_restrictions(const Config&);
/// `KNOB=VALUE,VALUE,…`. Throws Error, prefixed by `place`.
Restriction parse_restriction(const std::string& text, std::string_view place);

/// Those of configs/restrictions/NAME.yaml; "none": none. Throws Error, prefixed by `place`, with the names there are.
Restrictions load_restrictions(const std::string& name, std::string_view place);
/// What tuning begins from where nothing else is said: "gpu" on GPUs, "none" on CPUs.
std::string_view default_restrictions(const Target&);
/// Throws Error, prefixed by `place`, unless it is "none" or a name under configs/restrictions.
void check_restrictions(const std::string& name, std::string_view place);

/// Those of `last` count where both match.
Restrictions joined(Restrictions first, const Restrictions& last);

/// `knob=1,4 knob=heuristic`: the same text, the same restrictions.
std::string describe(const Restrictions&);

}  // namespace deplo::engine
