// The maxima and minima of NVIDIA's Tile IR without `propagate_nan`. Private to the room.
#pragma once
#include "rules/raise/elements.h"

namespace deplo::rules::raising {

/// Makes the maxima and minima in `value` ignore NaN: for a NaN and a number, the result is the number. Maxima of
/// softmaxes stay as they are.
ValueId choosing_numbers(Elements&, ValueId value);

}  // namespace deplo::rules::raising
