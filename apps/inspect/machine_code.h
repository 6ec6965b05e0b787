// NVRTC's output for a kernel: PTX, machine code, its instructions, and its resources.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "core/target.h"
#include "measure/device.h"

namespace deplo::apps {

/// Compiles a kernel for the target's architecture. `level`: "ptx", "cubin" or "sass" (the text of the cubin's
/// instructions). Throws Error in one line with the compiler's message, prefixed by `place`; Error(environment) if
/// there is no NVRTC or, for "sass", no nvdisasm.
std::string machine_code(const measure::KernelCode&, const Target&, const std::string& level, const std::string& place);

/// A table of kernels' registers, spills, stack, shared memory and occupancy on one target, followed by the compiler's
/// messages about lost performance.
class ResourceTable {
 public:
  explicit ResourceTable(Target target) : target_(std::move(target)) {}
  /// Compiles the kernel and adds a row for it. Throws as machine_code() does.
  void add(const std::string& name, const measure::KernelCode&);
  /// Returns the table for a window of that many columns; 0: no limit.
  std::string print(std::size_t width) const;

 private:
  Target target_;
  std::vector<std::vector<std::string>> rows_;
  std::string notes_;  // the compiler's messages, one per line
};

/// Two tables of instructions by class, for each kernel's whole code and for its loops, followed by the compiler's
/// messages about lost performance.
class InstructionTable {
 public:
  explicit InstructionTable(Target target) : target_(std::move(target)) {}
  /// Compiles and disassembles the kernel, and adds its rows. Throws as machine_code() does.
  void add(const std::string& name, const measure::KernelCode&);
  /// Disassembles another compiler's cubin, and adds its rows. Throws Error(environment) if it cannot be disassembled.
  void add_cubin(const std::string& name, const std::string& cubin, const std::string& entry);
  /// Returns the tables for a window of that many columns; 0: no limit.
  std::string print(std::size_t width) const;

 private:
  /// `facts`: registers, spilled bytes, occupancy and its limiter.
  void add_rows(const std::string& name, const std::string& cubin, const std::array<std::string, 4>& facts);
  Target target_;
  std::vector<std::vector<std::string>> kernels_, loops_;
  std::string notes_;
};

}  // namespace deplo::apps
