// The products of matrices (wgmma) that a warp has issued, and the registers that they use.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "measure/ptx/program.h"

namespace deplo::measure::ptx {

class Warp;

class WarpProducts {
 public:
  explicit WarpProducts(const Program&);

  struct Product {
    std::int64_t group = 0;
    std::uint32_t at = 0;
    std::function<void()> work;
  };
  /// Products of the current group, committed() + 1. `sums` and fragments of a are in use until they are waited for.
  void issue(std::uint32_t at, const Detail& registers, std::function<void()> work);
  std::size_t next_number() { return issued_++; }
  void commit() { ++committed_; }
  std::int64_t committed() const { return committed_; }
  void run(const Warp&, std::int64_t up_to_group);
  void note_waited(std::int64_t group);

  void note_fence() { fence_ = clock_; }
  /// Throws Finding if an instruction other than wgmma wrote the register since the last wgmma.fence.
  void check_fenced(RegisterPlace) const;
  /// Before each instruction of a program with wgmma. Throws Finding if it touches a register of a product that was not waited for.
  void check_registers(const Instruction&);

 private:
  std::deque<Product> open_;
  std::int64_t committed_ = 0;
  std::size_t issued_ = 0;
  std::vector<std::int64_t> written_;    // when a register was last written by something else
  std::vector<std::int64_t> in_flight_;  // the group that a register waits for; 0: none
  std::int64_t clock_ = 0, fence_ = -1, waited_ = 0;
};

}  // namespace deplo::measure::ptx
