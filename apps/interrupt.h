// Ctrl-C and SIGTERM as a flag that long work polls.
#pragma once

namespace deplo::apps {

/// From now on the first SIGINT or SIGTERM sets the flag; a second one ends the process at once, as ever.
void catch_interrupts();
/// The number of the signal that came, 0: none.
int interrupted();

}  // namespace deplo::apps
