// Measures the energy of a launch: docs/measurement.md, "Energy".
#pragma once
#include <cstdint>

#include "measure/device.h"
#include "measure/protocol/operand_sets.h"

namespace deplo::measure {

/// The least time between the two readings of the counter, in seconds of launches.
inline constexpr double energy_seconds = 0.5;
/// Relative differences of energies up to this are noise. The error of each energy is up to half of it, because both
/// readings may be a batch of 5 ms late.
inline constexpr double energy_tie = 0.02;

/// Returns the millijoules of the whole device for one launch of `blocks` blocks on cold operands. Launches until the
/// counter steps, then for energy_seconds or longer until it steps again. The energy is the difference between the two
/// readings, divided by the number of launches between them. `launch_us`: the expected time of a launch. Fails with the
/// failure of a launch, or with no_energy if the counter cannot be read, does not step for two seconds, or goes back.
Result<double> energy_of_launch(Executable&, OperandSets&, std::int64_t blocks, double launch_us, EnergyCounter&);

}  // namespace deplo::measure
