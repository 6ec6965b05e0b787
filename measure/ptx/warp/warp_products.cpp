#include "measure/ptx/warp/warp_products.h"

#include <algorithm>
#include <utility>

#include "measure/ptx/machine.h"
#include "measure/ptx/warp/place.h"
#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {

WarpProducts::WarpProducts(const Program& program) {
  if (!program.has_wgmma) return;
  touched_.resize(program.register_bytes / slot_bytes + 1, -1);
  in_flight_.resize(program.register_bytes / slot_bytes + 1, 0);
}

void WarpProducts::issue(std::uint32_t at, const Detail& registers, std::function<void()> work) {
  for (const RegisterPlace place : registers.d) in_flight_[place / slot_bytes] = committed_ + 1;
  for (const RegisterPlace place : registers.a) in_flight_[place / slot_bytes] = committed_ + 1;
  open_.push_back({committed_ + 1, at, std::move(work)});
}

// PTX ISA, "wgmma.mma_async": the registers of an operand may not be accessed before the wait.
void WarpProducts::check_registers(const Instruction& i) {
  ++clock_;
  if (i.detail == nullptr) return;
  for (const std::uint32_t place : i.detail->reads) {
    if (in_flight_[place / slot_bytes] > waited_) throw Finding("reads a sum of a wgmma before waiting for it");
    touched_[place / slot_bytes] = clock_;
  }
  for (const std::uint32_t place : i.detail->writes) {
    if (in_flight_[place / slot_bytes] > waited_)
      throw Finding("writes a register that a wgmma still uses, before waiting for it");
    touched_[place / slot_bytes] = clock_;
  }
}

// PTX ISA, "wgmma.fence": it must come before the first wgmma, and between other accesses to a register and a wgmma.
void WarpProducts::check_fenced(RegisterPlace place) const {
  if (fence_ < 0) throw Finding("no wgmma.fence comes before this wgmma");
  if (touched_[place / slot_bytes] > fence_)
    throw Finding("a register of this wgmma was read or written after the last wgmma.fence");
}

void WarpProducts::run(const Warp& warp, std::int64_t up_to_group) {
  while (!open_.empty() && open_.front().group <= up_to_group) {
    const Product product = std::move(open_.front());
    open_.pop_front();
    do_placed(product.work, warp, product.at);
  }
}

void WarpProducts::note_waited(std::int64_t group) { waited_ = std::max(waited_, group); }

}  // namespace deplo::measure::ptx
