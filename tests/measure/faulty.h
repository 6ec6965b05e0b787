// A device whose candidates behave as their source text says. They may kill the process that runs them. The text is
// "fault WHAT WHERE", optionally followed by "FILE N": the fault happens only the first N times, which are counted in
// the file.
#pragma once
#include <memory>
#include <string>

#include "measure/device.h"
#include "measure/worker/process.h"
#include "measure/worker/runner.h"

namespace deplo::measure::worker {

/// `where`: build, launch, sample or check. `what`: see faulty.cpp. "none" is a correct candidate that takes 10 µs.
/// "quick" is one that takes 5 µs if the fault happens while it is built, and 10 µs otherwise. `first`: "FILE N", or
/// empty.
KernelCode faulty_candidate(const std::string& what, const std::string& where = "launch",
                            const std::string& first = "");
Task copy_task();

/// DeviceInfo::vendor of this device is the id of its process.
std::unique_ptr<Device> open_faulty();
/// Replaces the compiler in build pools.
Result<Resources> faulty_compile(const KernelCode&);

/// These return the commands that run this test program as a worker and as a builder (see main.cpp).
WorkerCommand faulty_worker();
WorkerCommand faulty_builder();
/// Runs as a worker if the arguments ask for one, and returns its exit code. Returns -1 otherwise.
int run_as_worker(int argc, char** argv);

}  // namespace deplo::measure::worker
