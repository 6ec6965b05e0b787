// A warp: 32 lanes with registers, in groups that are at the same instruction.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "measure/ptx/block.h"
#include "measure/ptx/finding.h"
#include "measure/ptx/program.h"
#include "measure/ptx/races/global_order.h"

namespace deplo::measure::ptx {

/// A value for each lane.
template <class T>
using PerLane = std::array<T, warp_lanes>;

enum class Use { read, write, update };

/// What an instruction does at an address.
struct Operation {
  Use use = Use::read;
  MemoryOrder order = {};
  const std::byte* written = nullptr;  // of Use::write: the bytes
  std::uint32_t used = 0;              // the first bytes, which the kernel uses of what it reads; 0: all
};

class Warp {
 public:
  Warp(Block&, std::int64_t index);

  /// Executes at most `budget` instructions. Returns how many it executed; of those that only found that they still
  /// wait, none. Throws Finding with the place of the instruction.
  std::int64_t run(std::int64_t budget);
  bool has_ended() const { return alive_ == 0; }
  std::int64_t take_thread_instructions();
  /// The lanes at an instruction that all lanes must execute together, if those that are missing wait elsewhere for
  /// such
  /// an instruction, too: they never come together. "" without one.
  std::string parted_lanes() const;
  /// "warp 2 at PTX line 120 (…), mbarrier.try_wait…" of each group, for deadlocks.
  std::string whereabouts() const;

  Block& block() const { return block_; }
  Machine& machine() const { return block_.machine(); }
  std::int64_t index() const { return index_; }
  Lanes alive() const { return alive_; }
  std::uint32_t at() const { return at_; }

  // ---- registers
  template <class T>
  PerLane<T>& lanes(RegisterPlace place) {
    return *reinterpret_cast<PerLane<T>*>(registers_.data() + place / sizeof(std::uint64_t));
  }
  Lanes& predicate(RegisterPlace place) { return lanes<Lanes>(place)[0]; }
  /// Writes the lanes that are in `lanes`.
  template <class T>
  void store(RegisterPlace place, const PerLane<T>& values, Lanes active) {
    PerLane<T>& to = lanes<T>(place);
    if (active == all_lanes) {
      to = values;
      return;
    }
    for (std::size_t l = 0; l < warp_lanes; ++l)
      if ((active >> l & 1) != 0) to[l] = values[l];
  }
  void store_predicate(RegisterPlace place, Lanes values, Lanes active) {
    Lanes& to = predicate(place);
    to = (to & ~active) | (values & active);
  }
  Lanes carry = 0;  // PTX ISA, "Extended-Precision Integer Arithmetic": the carry-out or borrow-out, CC.CF

  /// The value that an operand has in all active lanes. Throws Finding if they differ.
  template <class T>
  T uniform(RegisterPlace place, Lanes active, const char* what) {
    const PerLane<T>& values = lanes<T>(place);
    const auto first = static_cast<std::size_t>(std::countr_zero(active));
    for (std::size_t l = first; l < warp_lanes; ++l)
      if ((active >> l & 1) != 0 && values[l] != values[first])
        throw Finding(std::string("the lanes of the warp have different values as ") + what, static_cast<int>(l));
    return values[first];
  }

  // ---- memory
  /// The address of a lane: base register and offset.
  std::uint64_t address(const Instruction& i, std::size_t lane) {
    const std::uint64_t base =
        i.size_of_address == 8 ? lanes<std::uint64_t>(i.a)[lane] : lanes<std::uint32_t>(i.a)[lane];
    const std::uint64_t sum = base + static_cast<std::uint64_t>(i.number);
    return i.size_of_address == 8 ? sum : sum & 0xffffffff;
  }
  /// The bytes at an address of a space. Throws Finding if they are misaligned, out of bounds, or read uninitialized,
  /// or if nothing orders the access and an earlier one.
  std::byte* at(Space space, std::uint64_t address, std::uint32_t size, std::size_t lane, const Operation&);
  /// A write to global memory makes known what its order says. `updates`: by an atomic operation.
  void release(const Instruction& i, std::size_t lane, bool updates);
  /// PTX ISA, "membar/fence".
  void fence(Scope);
  /// A read of global memory by an asynchronous copy.
  void check_global_read(std::uint64_t address, std::uint64_t size, const Access&) const;
  /// The block that has an address of shared::cluster (or shared, if `own`), and the offset there.
  std::pair<Block*, std::uint64_t> shared_place(std::uint64_t address, bool own, std::size_t lane) const;

  /// Whether a wait that is not over shall end all the same (mbarrier.try_wait).
  bool returns_early() const { return returns_early_; }

  // ---- order
  Actor actor() const { return actor_; }
  const Knowledge& knowledge() const { return knowledge_; }
  /// An access of the warp itself by the instruction that is executed.
  Access access() const { return {actor_, epoch_, at_, false, false, &knowledge_}; }
  void acquire(const Knowledge& other) {
    knowledge_.join(other);
    lane_order_.meet(all_lanes);
  }
  /// PTX ISA, "bar.warp.sync".
  void meet(Lanes lanes) { lane_order_.meet(lanes); }
  void see(Actor actor, Epoch epoch) { knowledge_.seen.see(actor, epoch); }
  /// What comes from here on is not part of what the warp has made known before.
  void begin_epoch() { knowledge_.seen.see(actor_, ++epoch_); }
  /// PTX ISA, "fence.proxy.async".
  void show_to_proxy();
  [[noreturn]] void report(const Conflict&, const char* does, std::uint64_t size, std::uint64_t at) const;

  // ---- barriers
  struct Ticket {
    std::uint32_t barrier = 0;
    std::uint64_t turns = 0;
  };
  std::optional<std::int64_t> registers;         // of a thread, once setmaxnreg has changed them
  std::optional<Ticket> arrival;                 // at a barrier of the block
  std::optional<std::uint64_t> cluster_arrival;  // turns of the cluster's barrier before it
  /// The address of an mbarrier that a lane waits for, and the phase.
  std::array<std::optional<std::pair<std::uint64_t, std::uint64_t>>, warp_lanes> awaited_phase;

  // ---- asynchronous work
  struct AsyncCopy {
    std::size_t lane = 0;
    std::int64_t group = 0;
    std::uint32_t at = 0;
    std::function<void()> work;
  };
  std::deque<AsyncCopy> copies;                             // cp.async, that are not done yet
  std::array<std::int64_t, warp_lanes> committed_copies{};  // groups of each lane
  struct Product {
    std::int64_t group = 0;
    std::uint32_t at = 0;
    std::function<void()> work;
  };
  std::deque<Product> products;  // wgmma, that are not done yet
  std::int64_t committed_products = 0, uncommitted_products = 0;
  std::size_t issued_products = 0;
  void run_products(std::int64_t up_to_group);
  void note_fence() { fence_ = clock_; }
  /// Throws Finding if an instruction other than wgmma wrote the register since the last wgmma.fence.
  void check_fenced(std::uint32_t place) const;
  void note_product_sums(const Detail&);
  bool is_waited_for(std::int64_t group) const { return group <= waited_products_; }
  void note_products_waited(std::int64_t group);

  void end(Lanes);

 private:
  struct Group {
    std::uint32_t at = 0;
    Lanes lanes = 0;
    bool waiting = false;
  };
  void reset();
  void set_special(const SpecialPlace&);
  std::size_t pick();
  void merge(std::size_t current);
  void add(const Group&);
  /// Returns whether the group goes on.
  bool step(std::size_t current);
  bool are_together(Group&, const Instruction&, Lanes active);
  void branch(std::size_t current, const Instruction&, Lanes active);
  void split(std::size_t current, Lanes active);
  void check_registers(const Instruction&);
  std::byte* shared_at(std::uint64_t address, std::uint32_t size, std::size_t lane, const Operation&, bool own);
  std::byte* global_at(std::uint64_t address, std::uint32_t size, std::size_t lane, const Operation&);
  void observe(std::uint64_t address, const MemoryOrder&);
  void acquire(const ClusterClocks&);
  ClusterClocks known() const;
  [[noreturn]] void report(const GlobalConflict&, const char* does, std::uint64_t size, std::uint64_t address) const;
  std::byte* local_at(std::uint64_t offset, std::uint32_t size, std::size_t lane);

  Block& block_;
  std::int64_t index_;
  Actor actor_;
  Epoch epoch_ = 1;
  Knowledge knowledge_;
  LaneOrder lane_order_;
  /// Of global memory: what strong reads have seen that no fence has acquired yet, and what fences have released.
  ClusterClocks observed_in_device_, observed_in_block_, fenced_for_device_, fenced_for_block_;
  const Program& program_;
  std::vector<std::uint64_t> registers_;
  std::vector<std::byte> local_;  // of each lane
  std::vector<Group> groups_;
  Lanes alive_ = 0;
  bool returns_early_ = false;
  std::optional<std::uint64_t> idle_since_;  // the machine's events when every group waited
  std::uint32_t at_ = 0;                     // the instruction that is executed
  std::int64_t thread_instructions_ = 0;

  // Of wgmma: when a register was last written by something else, and which are in flight.
  std::vector<std::int64_t> written_;
  std::vector<std::int64_t> in_flight_;  // the group that a register waits for; 0: none
  std::int64_t clock_ = 0, fence_ = -1, waited_products_ = 0;
};

}  // namespace deplo::measure::ptx
