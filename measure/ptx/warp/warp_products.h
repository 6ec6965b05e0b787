// The matrix products (wgmma) that a warp has issued, and the registers that they use.
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
  /// Adds a product to the current group, committed() + 1. The registers of the sums (`d`) and of the fragments of a
  /// are in use until a wait for the group.
  void issue(std::uint32_t at, const Detail& registers, std::function<void()> work);
  void commit() { ++committed_; }
  std::int64_t committed() const { return committed_; }
  void run(const Warp&, std::int64_t up_to_group);
  void note_waited(std::int64_t group);

  void note_fence() { fence_ = clock_; }
  /// Throws Finding if there was no wgmma.fence yet, or if an instruction other than wgmma has read or written the
  /// register since the last one.
  void check_fenced(RegisterPlace) const;
  /// Called before each instruction of a program with wgmma. Throws Finding if the instruction touches a register of a
  /// product that no wait has covered yet.
  void check_registers(const Instruction&);

 private:
  std::deque<Product> open_;
  std::int64_t committed_ = 0;
  std::vector<std::int64_t> touched_;    // time (clock_) of the last access to each register by another instruction
  std::vector<std::int64_t> in_flight_;  // group of the product that uses each register; 0: none
  std::int64_t clock_ = 0, fence_ = -1, waited_ = 0;
};

}  // namespace deplo::measure::ptx
