// What NVRTC makes of a kernel: assembly text, machine code, its instructions, and what it takes of the machine.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/emit/emit.h"

namespace deplo::apps {

/// `level`: "ptx", "cubin" or "sass" (the text of the cubin's instructions), for the target's architecture. Throws Error
/// in one line, prefixed by `place`, with what the compiler says; Error(environment) where there is no NVRTC or, for
/// "sass", no nvdisasm.
std::string machine_code(const ir::KernelSource&, const Target&, const std::string& level, const std::string& place);

/// One table of registers, spills, stack, shared memory and occupancy of kernels on one target, and behind it the
/// compiler's messages about lost performance.
class ResourceTable {
 public:
  explicit ResourceTable(Target target) : target_(std::move(target)) {}
  /// Compiles it. Throws as machine_code() does.
  void add(const std::string& name, const ir::KernelSource&);
  /// For a window of that many columns; 0: no limit.
  std::string print(std::size_t width) const;

 private:
  Target target_;
  std::vector<std::vector<std::string>> rows_;
  std::string notes_;  // the compiler's, a line each
};

/// Two tables, and such messages: all of each kernel's code, and its loops, by the classes of their instructions.
class InstructionTable {
 public:
  explicit InstructionTable(Target target) : target_(std::move(target)) {}
  /// Compiles and disassembles it. Throws as machine_code() does.
  void add(const std::string& name, const ir::KernelSource&);
  /// The same of another compiler's cubin. Throws Error(environment) where it cannot be disassembled.
  void add_cubin(const std::string& name, const std::string& cubin, const std::string& entry);
  /// For a window of that many columns; 0: no limit.
  std::string print(std::size_t width) const;

 private:
  /// `facts`: registers, spilled bytes, occupancy and its limiter.
  void add_rows(const std::string& name, const std::string& cubin, const std::array<std::string, 4>& facts);
  Target target_;
  std::vector<std::vector<std::string>> kernels_, loops_;
  std::string notes_;
};

}  // namespace deplo::apps
