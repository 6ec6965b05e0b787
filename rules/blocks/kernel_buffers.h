// The buffers of a kernel: the launch's arrays, followed by the kernel's own buffers for globals, scratch memory,
// allocas and assertions. Private to the room.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/tile_program/program.h"
#include "rules/blocks/block_kernel.h"
#include "rules/blocks/code.h"

namespace deplo::rules::blocks {

namespace tp = ir::tile_program;

class KernelBuffers {
 public:
  /// Also reserves the buffers' names. A user's name that is not valid in a kernel becomes array_N.
  KernelBuffers(const tp::Program&, std::span<const tp::Array>, Code&);

  /// Reserves memory for the result of an alloca. Every block has its own memory for all allocas.
  void add_alloca(tp::ValueId, std::int64_t bytes, std::int64_t alignment);
  /// Returns the number that the kernel reports if the assertion with this message fails.
  std::int64_t add_assertion(std::string message);

  // Each of these functions defines an address.
  Name array_address(Code& code, std::size_t array) const { return code.address(arrays_[array].name); }
  Name global_address(Code&, const std::string& name) const;
  Name alloca_address(Code&, tp::ValueId, const Expr& block) const;
  static Name assertion_address(Code&);

  /// Bytes of all allocas per block.
  std::int64_t alloca_bytes() const;
  /// Adds the buffers to the kernel. `scratch`: bytes per block. `written`: one entry per array.
  void give_to(BlockKernel&, std::int64_t blocks, std::int64_t scratch, std::vector<bool> written) const;

 private:
  std::vector<ir::Buffer> arrays_;
  std::vector<std::uint8_t> globals_;
  std::map<std::string, std::int64_t> global_offsets_;
  std::map<tp::ValueId, std::int64_t> alloca_offsets_;
  std::int64_t alloca_end_ = 0, alloca_alignment_;
  std::vector<std::string> assertions_;
};

}  // namespace deplo::rules::blocks
