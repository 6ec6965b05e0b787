// Branches, ends, calls, barriers of blocks and clusters, and fences.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/text/text.h"
#include "measure/ptx/instructions/table.h"
#include "measure/ptx/machine.h"
#include "measure/ptx/warp/warp_memory.h"

namespace deplo::measure::ptx {
namespace {

// Registers per thread at the launch, as ptxas allocates them for kernels with setmaxnreg: as many as the launch bounds
// allow. CUDA C++ Programming Guide, "Technical Specifications": 65,536 registers per multiprocessor, at most 255 per
// thread, allocated in multiples of 8 (PTX ISA, "setmaxnreg").
std::int64_t launch_registers(const Machine& machine) {
  constexpr std::int64_t all = 65536, max_registers = 255;
  const std::int64_t threads = machine.warps() * warp_lanes * machine.program().least_blocks;
  return std::min(all / threads / 8 * 8, max_registers);
}

Flow run_branch(Warp&, const Instruction&, Lanes) { return Flow::branch; }
void branch(Binder& b) {
  b.expect_operands(1, 1);
  b.label(0);
  b.to().run = run_branch;
}

Flow run_end(Warp&, const Instruction&, Lanes) { return Flow::end; }
void end(Binder& b) {
  b.expect_operands(0, 0);
  b.to().run = run_end;
}

Flow run_trap(Warp&, const Instruction&, Lanes) { throw Finding("the kernel traps"); }
void trap(Binder& b) { b.to().run = run_trap; }

Flow run_nothing(Warp&, const Instruction&, Lanes) { return Flow::next; }
void nothing(Binder& b) { b.to().run = run_nothing; }

// ---- bar. A barrier with a vote is bar.red.
enum class Vote : std::uint8_t { none, count, all, any };

Lanes votes_of(Warp& w, const Instruction& i) {
  constexpr std::int64_t negated = 2;
  return (i.number & negated) != 0 ? ~w.predicate(i.c) : w.predicate(i.c);
}

template <Vote vote>
void store_votes(Warp& w, const Instruction& i, Lanes active, const NamedBarrier::Votes& votes) {
  if constexpr (vote == Vote::count) {
    w.store_in_all(i.d, static_cast<std::uint32_t>(votes.yes), active);
  } else {
    const bool result = vote == Vote::all ? votes.no == 0 : votes.yes != 0;
    w.store_predicate(i.d, result ? all_lanes : 0, active);
  }
}

template <Vote vote>
Flow run_barrier(Warp& w, const Instruction& i, Lanes active) {
  Block& block = w.block();
  const bool waits = i.size != 0;
  if (!w.arrival) {
    const std::uint32_t number = w.uniform<std::uint32_t>(i.a, active, "the barrier");
    constexpr std::uint32_t barriers = 16;
    if (number >= barriers) throw Finding(fmt::format("expected a barrier from 0 to 15, found {}", number));
    const bool all = (i.number & 1) == 0;
    const std::int64_t expected = all ? 0 : w.uniform<std::uint32_t>(i.b, active, "the number of threads");
    if (expected % warp_lanes != 0 || (expected == 0 && !all))
      throw Finding(fmt::format("expected a multiple of {} threads at a barrier, found {}", warp_lanes, expected));
    if constexpr (vote != Vote::none) {
      const Lanes yes = votes_of(w, i);
      block.vote(number, {std::popcount(active & yes), std::popcount(active & ~yes)});
    }
    const std::uint64_t turns = block.arrive(number, warp_lanes, expected, w.order.knowledge());
    w.order.begin_epoch();
    if (!waits) return Flow::next;
    w.arrival = {number, turns};
  }
  const NamedBarrier& barrier = block.barrier(w.arrival->barrier);
  if (barrier.turns == w.arrival->turns) return Flow::wait;
  w.order.acquire(barrier.complete);
  if constexpr (vote != Vote::none) store_votes<vote>(w, i, active, barrier.votes.at(w.arrival->turns));
  w.arrival.reset();
  return Flow::next;
}
// bar.sync a{, b}. barrier.sync.aligned is the same (PTX ISA, "bar"). i.number: 1 if a number of threads is given.
void barrier(Binder& b) {
  b.expect_operands(1, 2);
  b.to().a = b.read(0, 32);
  if (b.operands() == 2) b.to().b = b.read(1, 32), b.to().number = 1;
  b.to().size = b.has("sync") ? 1 : 0;
  b.to().together = Together::warp;
  b.to().waits = true;
  b.to().run = run_barrier<Vote::none>;
}
// bar.red.popc.u32 d, a{, b}, {!}c. i.number: as in barrier(), + 2 if the predicate is negated.
void voting_barrier(Binder& b) {
  b.expect_operands(3, 4);
  const bool counts = b.has("popc"), has_threads = b.operands() == 4;
  b.to().d = b.write(0, counts ? 32 : 1);
  b.to().a = b.read(1, 32);
  if (has_threads) b.to().b = b.read(2, 32), b.to().number = 1;
  Operand truth = b.operand(b.operands() - 1);
  if (std::exchange(truth.negated, false)) b.to().number += 2;
  b.to().c = b.read(truth, 1);
  b.to().size = 1;
  b.to().together = Together::warp;
  b.to().waits = true;
  b.to().run = counts ? run_barrier<Vote::count> : b.has("and") ? run_barrier<Vote::all> : run_barrier<Vote::any>;
}

Flow run_warp_barrier(Warp& w, const Instruction&, Lanes active) {
  w.order.meet(active | ~w.alive());  // lanes that have ended miss nothing
  return Flow::next;
}
void warp_barrier(Binder& b) {
  b.expect_operands(1, 1);
  b.to().e = b.read(0, 32);
  b.to().together = Together::members;
  b.to().run = run_warp_barrier;
}

// ---- barrier.cluster
// A relaxed arrival releases only the start of the block, and the initializations of mbarriers that
// fence.mbarrier_init.release.cluster has covered.
template <bool is_relaxed>
Flow run_cluster_arrive(Warp& w, const Instruction&, Lanes active) {
  if (w.cluster_arrival) throw Finding("arrives at the cluster's barrier twice, without a wait in between");
  Cluster& cluster = w.block().cluster();
  w.cluster_arrival = cluster.turns();
  Knowledge knowledge;
  const Actors& actors = cluster.actors();
  for (const Actor actor : {actors.initializations(w.block().rank()), actors.start(w.block().rank())})
    knowledge.seen.see(actor, w.order.knowledge().seen.seen(actor));
  cluster.arrive(std::popcount(active), is_relaxed ? knowledge : w.order.knowledge());
  w.order.begin_epoch();
  return Flow::next;
}
Flow run_cluster_wait(Warp& w, const Instruction&, Lanes) {
  if (!w.cluster_arrival) throw Finding("waits for the cluster's barrier without having arrived");
  if (w.block().cluster().turns() == *w.cluster_arrival) return Flow::wait;
  w.cluster_arrival.reset();
  w.order.acquire(w.block().cluster().complete());
  return Flow::next;
}
void cluster_barrier(Binder& b) {
  b.expect_operands(0, 0);
  // Without .aligned, lanes may arrive separately. The machine lets them arrive together, which is one of the allowed
  // orders.
  b.to().together = Together::warp;
  b.to().waits = true;
  b.to().run = !b.has("arrive")   ? run_cluster_wait
               : b.has("relaxed") ? run_cluster_arrive<true>
                                  : run_cluster_arrive<false>;
}

// ---- fences
template <Scope scope>
Flow run_fence(Warp& w, const Instruction&, Lanes) {
  w.order.fence(scope);
  return Flow::next;
}
void fence(Binder& b) {
  b.to().run = b.has("cta")       ? run_fence<Scope::block>
               : b.has("cluster") ? run_fence<Scope::cluster>
                                  : run_fence<Scope::device>;
}
template <FencedMemory memory>
Flow run_proxy_fence(Warp& w, const Instruction&, Lanes) {
  w.order.show_to_proxy(memory);
  return Flow::next;
}
void proxy_fence(Binder& b) {
  b.to().run = b.has("alias")    ? run_nothing
               : b.has("global") ? run_proxy_fence<FencedMemory::global>
               : b.words() == 3  ? run_proxy_fence<FencedMemory::all>
                                 : run_proxy_fence<FencedMemory::shared>;
}
Flow run_barrier_fence(Warp& w, const Instruction&, Lanes) {
  w.order.see(w.block().cluster().actors().initializations(w.block().rank()), w.block().mbarriers().initializations());
  return Flow::next;
}
void barrier_fence(Binder& b) { b.to().run = run_barrier_fence; }

// ---- setmaxnreg (PTX ISA): dec returns registers to the block's pool; inc waits until the pool has enough. All warps
// of a warpgroup execute it.
Flow run_set_registers(Warp& w, const Instruction& i, Lanes) {
  const std::int64_t before = w.registers.value_or(launch_registers(w.machine()));
  const bool increases = i.size != 0;
  if (increases ? i.number < before : i.number > before)
    throw Finding(fmt::format("{} the registers of a thread from {} to {}", increases ? "increases" : "decreases",
                              before, i.number));
  const std::int64_t more = (i.number - before) * warp_lanes;
  std::int64_t& free = w.block().free_registers();
  if (more > free) return Flow::wait;
  w.block().issue(w, {w.at(), {}});
  free -= more;
  w.registers = i.number;
  w.machine().note_event();
  return Flow::next;
}
void set_registers(Binder& b) {
  b.expect_operands(1, 1);
  const std::int64_t count = b.integer(0);
  if (count < 24 || count > 256 || count % 8 != 0) b.fail("a multiple of 8 from 24 to 256");
  b.to().number = count;
  b.to().size = b.has("inc") ? 1 : 0;
  b.to().together = Together::warp;
  b.to().waits = true;
  b.to().run = run_set_registers;
}

// ---- call: vprintf and __assertfail, which have no body in the PTX.

template <class T>
T value_at(Warp& w, Space space, std::uint64_t address, std::size_t lane) {
  T value;
  std::memcpy(&value, memory_at(w, space, address, sizeof value, lane, {}), sizeof value);
  return value;
}

/// Returns the argument number k of a call, which is a local variable of the thread.
template <class T>
T argument_of(Warp& w, const Instruction& i, std::size_t k, std::size_t lane) {
  return value_at<T>(w, Space::local, w.lanes<std::uint64_t>(i.detail->a[k])[lane], lane);
}

/// Returns the text that begins at an address, up to the byte 0.
std::string text_at(Warp& w, std::uint64_t address, std::size_t lane) {
  std::string text;
  while (const char c = value_at<char>(w, Space::generic, address++, lane)) text += c;
  return text;
}

/// Prints by NVRTC's own calling convention: a format, and the arguments in memory, each aligned to its size.
class Printer {
 public:
  Printer(Warp& w, std::size_t lane, std::uint64_t arguments) : w_(w), lane_(lane), at_(arguments) {}

  std::string print(std::uint64_t format) {
    std::string result;
    for (char c = byte(format++); c != '\0'; c = byte(format++)) {
      if (c != '%') {
        result += c;
        continue;
      }
      std::string spec = "%";
      do {
        c = byte(format++);
        spec += c;
      } while (c != '\0' && std::strchr("diouxXeEfFgGaAcsp%", c) == nullptr && spec.size() < 16);
      result += argument(spec);
    }
    return result;
  }

 private:
  char byte(std::uint64_t address) { return value_at<char>(w_, Space::generic, address, lane_); }
  template <class T>
  T take() {
    at_ = aligned(at_, sizeof(T)) + sizeof(T);
    return value_at<T>(w_, Space::generic, at_ - sizeof(T), lane_);
  }
  std::string argument(const std::string& spec) {
    char text[512] = "";
    const char kind = spec.back();
    const bool wide = spec.find('l') != std::string::npos;
    if (kind == '%') return "%";
    if (spec.find_first_not_of("0123456789.-+ #lh", 1) != spec.size() - 1)
      throw Finding("prints with a conversion that the PTX machine does not support: " + spec, lane_);
    if (kind == 's') return text_at(w_, take<std::uint64_t>(), lane_);
    // The format is valid for printf, as checked above.
    if (std::strchr("eEfFgGaA", kind) != nullptr)
      std::snprintf(text, sizeof text, spec.c_str(), take<double>());  // NOLINT
    else if (wide || kind == 'p')
      std::snprintf(text, sizeof text, spec.c_str(), take<std::uint64_t>());  // NOLINT
    else if (std::strchr("diouxXc", kind) != nullptr)
      std::snprintf(text, sizeof text, spec.c_str(), take<std::uint32_t>());  // NOLINT
    return text;
  }

  Warp& w_;
  std::size_t lane_;
  std::uint64_t at_;
};

Flow run_print(Warp& w, const Instruction& i, Lanes active) {
  for_each_lane(active, [&](std::size_t l) {
    const auto format = argument_of<std::uint64_t>(w, i, 0, l), arguments = argument_of<std::uint64_t>(w, i, 1, l);
    w.machine().print(Printer(w, l, arguments).print(format));
  });
  return Flow::next;
}

// __assertfail(message, file, line, function, bytes of a character). CUDA C++ Programming Guide, "Assertion": the
// kernel ends.
Flow run_assertion(Warp& w, const Instruction& i, Lanes active) {
  const auto lane = static_cast<std::size_t>(std::countr_zero(active));
  const auto text = [&](std::size_t k) {
    return printable(text_at(w, argument_of<std::uint64_t>(w, i, k, lane), lane));
  };
  throw Finding(fmt::format("assertion failed: {}, {}:{}, in {}", text(0), text(1),
                            argument_of<std::uint32_t>(w, i, 2, lane), text(3)),
                lane);
}

/// A function that the machine knows, although it has no body in the PTX.
struct KnownFunction {
  std::string_view name;
  std::size_t arguments;
  Meaning run;
};

void call(Binder& b) {
  static constexpr KnownFunction known[] = {{"vprintf", 2, run_print}, {"__assertfail", 5, run_assertion}};
  const std::string& name = b.operand(0).name;
  if (name == "malloc" || name == "free")
    b.fail("no malloc, free, new or delete: the PTX machine does not support memory allocation in kernels");
  const auto* const function = std::ranges::find(known, name, &KnownFunction::name);
  if (function == std::end(known))
    b.fail("calls of printf, of assert and of functions that the file defines, found '" + name + "'");
  const auto& arguments = b.operand(1).parts;
  if (arguments.size() != function->arguments)
    b.fail(fmt::format("{} arguments of {}, found {}", function->arguments, name, arguments.size()));
  for (const Operand& o : arguments) b.detail().a.push_back(b.read(o, 64));  // the address of the argument
  b.to().run = function->run;
}

constexpr Row rows[] = {
    {"bra.{uni}", branch},
    {"ret.{uni}", end},
    {"exit", end},
    {"trap", trap},
    {"call.{uni}", call},
    {"nanosleep.u32", nothing},
    {"bar.{cta}.sync", barrier},
    {"bar.{cta}.arrive", barrier},
    {"barrier.{cta}.sync.{aligned}", barrier},
    {"barrier.{cta}.arrive.{aligned}", barrier},
    {"bar.{cta}.red.popc.u32", voting_barrier},
    {"bar.{cta}.red.and|or.pred", voting_barrier},
    {"barrier.{cta}.red.popc.{aligned}.u32", voting_barrier},
    {"barrier.{cta}.red.and|or.{aligned}.pred", voting_barrier},
    {"bar.warp.sync", warp_barrier},
    {"barrier.cluster.arrive.{release|relaxed}.{aligned}", cluster_barrier},
    {"barrier.cluster.wait.{acquire}.{aligned}", cluster_barrier},
    {"setmaxnreg.inc|dec.sync.aligned.u32", set_registers},
    {"membar.cta|gl|sys", fence},
    {"fence.{sc|acq_rel}.cta|cluster|gpu|sys", fence},
    {"fence.mbarrier_init.release.cluster", barrier_fence},
    {"fence.proxy.alias|async.{global|shared::cta|shared::cluster}", proxy_fence},
    {"prefetch.tensormap", nothing},
    {"prefetch.global.L1|L2", nothing},
    {"griddepcontrol.launch_dependents|wait", nothing},
};

}  // namespace

std::span<const Row> control_rows() { return rows; }

}  // namespace deplo::measure::ptx
