// `deplo check --cuda`: runs a kernel of a CUDA file on the PTX machine, which finds its mistakes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/protocol/protocol.h"

namespace deplo::apps {

struct CudaCheckOptions {
  std::string file, entry, target = "sm_90a", grid = "1", threads = "128";
  std::vector<std::string> arguments;
  std::int64_t shared_bytes = 0;              // dynamic shared memory of a block
  std::uint64_t seed = 0;                     // of the arrays' values, and of the first interleaving
  std::int64_t runs = 8;                      // number of interleavings
  std::optional<std::string> reference = {};  // an expression; nullopt: values are not compared
  double tolerance = measure::default_tolerance;
};

struct CudaCheckReport {
  struct Array {
    std::string name, type;
    std::int64_t elements = 0, changed = 0;
    std::vector<double> first;  // the first few elements
  };
  std::string file, entry, target;
  std::string printed;     // text that the kernel printed in the run that found something, else in the first run
  std::string finding;     // what the machine found, or which value is wrong; "": nothing is wrong
  std::uint64_t seed = 0;  // of the run that found it
  std::int64_t runs = 0, instructions = 0;
  std::vector<Array> arrays;               // state of the arrays after the first run
  std::vector<std::string> compared = {};  // names of the arrays that were compared with the reference
  std::string unequal;                     // name of an array that two interleavings leave different; "": none
};

/// Runs the kernel. Throws Error for wrong options, and if the file does not compile.
CudaCheckReport check_cuda(const CudaCheckOptions&);
std::string print_table(const CudaCheckReport&);
std::string print_json(const CudaCheckReport&);

}  // namespace deplo::apps
