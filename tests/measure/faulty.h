// A device whose candidates do what their source text says, in a process that may die of it: "fault WHAT WHERE", and
// behind it perhaps "FILE N": the first N times only, which are counted in the file.
#pragma once
#include <memory>
#include <string>

#include "measure/device.h"
#include "measure/worker/process.h"
#include "measure/worker/runner.h"

namespace deplo::measure::worker {

/// WHERE: build, launch, sample or check. WHAT: see faulty.cpp; "none" is a candidate that is right and takes 10 µs,
/// and "quick" one that takes 5 µs where it was "built" while it happens.
KernelCode faulty_candidate(const std::string& what, const std::string& where = "launch",
                            const std::string& first = "");
Task copy_task();

/// Its vendor is the number of its process.
std::unique_ptr<Device> open_faulty();
/// In place of a compiler, for build pools.
Result<Resources> faulty_compile(const KernelCode&);

/// This program as a worker: main.cpp.
WorkerCommand faulty_worker();
WorkerCommand faulty_builder();
/// Runs it when the words ask for that; -1 otherwise.
int run_as_worker(int argc, char** argv);

}  // namespace deplo::measure::worker
