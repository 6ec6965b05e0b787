// `deplo check --space`: runs a user's own CUDA kernel on the PTX machine with several configurations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/progress.h"
#include "engine/source/inputs.h"
#include "engine/source/source.h"
#include "measure/protocol/protocol.h"

namespace deplo::apps {

struct FileCheckOptions {
  engine::foreign::Files file;
  engine::Inputs inputs = {};
  std::string target = "sm_90a";
  std::string configuration;  // NAME=VALUE,…; other parameters have their defaults
  std::size_t sample = 0;     // check this many random configurations instead; 0: do not
  bool all = false;           // check all legal configurations instead
  std::uint64_t seed = 0;     // of the arrays' values, of the random configurations, and of the first interleaving
  std::int64_t runs = 8;      // number of interleavings of each configuration
  double tolerance = measure::default_tolerance;
};

struct FileCheckReport {
  struct Configuration {
    std::string trail, launch;
    std::string finding;       // "": nothing is wrong
    bool built = true;         // false: the finding is that the configuration could not be built
    std::uint64_t seed = 0;    // of the interleaving that found it
    std::string printed = {};  // text that the kernel printed in this interleaving, up to the finding
  };
  std::string kernel, device;
  std::string printed;     // text that the first configuration printed in the first interleaving
  std::uint64_t seed = 0;  // of the first interleaving
  std::int64_t runs = 0;   // number of interleavings of each configuration without a finding
  std::vector<Configuration> configurations;
  std::string note = {};  // as OpaqueKernel::replaced_defaults() returns it
  bool right() const;
};

/// Checks the configurations. Throws Error for wrong options, if the reference fails, or if there is no NVRTC.
FileCheckReport check_file(const FileCheckOptions&, Progress&);
std::string print_table(const FileCheckReport&);
std::string print_json(const FileCheckReport&);

}  // namespace deplo::apps
