// Counts the instruction mix of a kernel in one walk over its Kernel IR.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ir/fraction.h"
#include "ir/hardware/mma.h"
#include "ir/hardware/pairs.h"
#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/features.h"
#include "rules/cost/resources.h"

namespace deplo::rules {

int exponentials(ir::Op op) {
  using ir::Op;
  constexpr std::array short_functions = {Op::exp, Op::exp2, Op::log, Op::tanh, Op::sigmoid};
  constexpr std::array long_functions = {Op::erf, Op::sin, Op::cos, Op::power};
  if (std::ranges::count(short_functions, op) > 0) return 1;
  return std::ranges::count(long_functions, op) > 0 ? 2 : 0;
}

namespace {

/// Returns whether no unit executes the operation in one step: division, roots, functions.
bool is_special(ir::Op op) {
  using ir::Op;
  constexpr std::array slow = {Op::reciprocal, Op::sqrt, Op::rsqrt, Op::divide};
  return exponentials(op) > 0 || std::ranges::count(slow, op) > 0;
}

/// Returns the mean number of iterations of threads whose starts are, equally often, the multiples of known_divisor()
/// in the start's range.
double mean_turns(const ir::Loop& loop, const ir::Ranges& scope) {
  const auto start = ir::bounds(loop.start, scope);
  if (!start) return 1;
  const std::int64_t step = std::max<std::int64_t>(loop.step, 1), end = loop.axis.extent;
  const std::int64_t gap = std::max<std::int64_t>(ir::known_divisor(loop.start), 1);
  double turns = 0, starts = 0;
  for (std::int64_t s = start->low; s <= start->high; s += gap, ++starts)
    turns += s < end ? static_cast<double>(ceil_div(end - s, step)) : 0;
  return turns / starts;
}

class MixCounter {
 public:
  MixCounter(const ir::Program& kernel, const Target& target) : kernel_(kernel), target_(target) {
    const ir::Tile& tile = tile_of(kernel);
    for (const ir::Axis& axis : tile.axes) scope_.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
    threads_ = static_cast<double>(ir::count_of(tile, ir::Bind::thread));
    blocks_ = static_cast<double>(ir::count_of(tile, ir::Bind::block) * ir::count_of(tile, ir::Bind::cluster));
    for (const ir::Stmt& stmt : kernel.body)
      if (const auto* descriptor = stmt.as<ir::TmaDescriptor>()) boxes_[descriptor->name] = descriptor;
    count(tile.body, 1, 1);
  }

  Mix result() {
    for (double* amount : {&mix_.flops, &mix_.arithmetic, &mix_.special, &mix_.tensor_cycles, &mix_.loads, &mix_.stores,
                           &mix_.shared_loads, &mix_.shared_stores, &mix_.atomics, &mix_.prefetches, &mix_.branches,
                           &mix_.requested_bytes})
      *amount *= threads_ * blocks_;
    mix_.registers = max_alive();
    return mix_;
  }

 private:
  /// `times`: how often the body runs. `visits`: how often it runs if unrolled iterations are straight-line code.
  void count(const ir::Body& body, double times, double visits) {
    bool shared = false, global = false;
    std::unordered_map<std::string, double> links;  // length of each accumulator's chain in one iteration
    Loaded loaded;
    for (const ir::Stmt& stmt : body) {
      live(stmt);
      statement(stmt, times);
      if (const auto* s = stmt.as<ir::Load>()) (kernel_.find(s->buffer) != nullptr ? global : shared) = true;
      if (const auto* s = stmt.as<ir::WarpShuffle>()) mix_.shared_waits += visits * steps_of(s->length);
      if (const auto* s = stmt.as<ir::TreeHalve>()) mix_.shared_waits += visits * steps_of(s->length);
      if (const auto* s = stmt.as<ir::Accum>()) ++links[s->dst];
      if (const auto* s = stmt.as<ir::DotPairs>()) {
        ++links[s->acc];
        operands(*s, loaded, times);
      }
      if (const auto* s = stmt.as<ir::If>()) {
        const double share = share_that_holds(s->condition, scope_);
        count(s->then, times * share, visits * share);
      }
      if (const auto* s = stmt.as<ir::Loop>()) enter(*s, times, visits);
      // Runs in parallel with the other threads, which do not wait for its iterations.
      if (const auto* s = stmt.as<ir::Produce>()) {
        producing_ = true;
        count(s->body, times, 0);
        producing_ = false;
      }
    }
    double longest = 0;
    for (const auto& [name, length] : links) longest = std::max(longest, length);
    mix_.chain += longest * times;
    if (shared) mix_.shared_waits += visits;
    if (global) mix_.global_waits += visits;
  }

  /// Counts the operands that dot products load. Neighbouring dot products share an operand.
  using Loaded = std::vector<const std::vector<ir::Expr>*>;
  void operands(const ir::DotPairs& s, Loaded& loaded, double times) {
    const auto load = [&](const std::string& buffer, const std::vector<ir::Expr>& at, int lanes) {
      if (std::ranges::any_of(loaded, [&](const auto* other) { return *other == at; })) return;
      loaded.push_back(&at);
      access(buffer, lanes, false, times);
    };
    load(s.a, s.at_a, ir::pairs::depth);
    load(s.b, s.at_b, ir::pairs::depth * ir::pairs::lanes);
  }

  static double steps_of(std::int64_t length) { return std::countr_zero(static_cast<std::uint64_t>(length)); }

  void enter(const ir::Loop& loop, double times, double visits) {
    const auto start = ir::bounds(loop.start, scope_);
    const double turns = mean_turns(loop, scope_) * ir::fraction_of_turns(loop, scope_);
    mix_.branches += turns * times;
    const double left = loop.unroll == 0 ? 1 : std::max(1.0, turns / loop.unroll);
    if (left > 1) mix_.jumps += visits * left;
    scope_.emplace_back(loop.axis.name, ir::Interval{start ? start->low : 0, loop.axis.extent - 1});
    const std::size_t before = position_;
    count(loop.body, times * turns, visits * left);
    scope_.pop_back();
    // A value that is defined before a loop and read in it is live until the loop's end.
    for (auto& [name, life] : lives_)
      if (life.first < before && life.last >= before) life.last = position_;
  }

  void operation(ir::Op op, ir::Type type, double times) {
    if (op == ir::Op::copy) return;
    const double instructions = target_.cpu ? vectors(type) : type.lanes;
    (is_special(op) ? mix_.special : mix_.arithmetic) += instructions * times;
    if (type.dtype == ir::DType::f32) mix_.flops += (op == ir::Op::fma ? 2 : 1) * type.lanes * times;
  }

  /// Returns the registers of a value. The bits of 16-bit elements are stored two to a register.
  static double registers_of(ir::Type type) {
    return ir::is_float16(type.dtype) ? std::ceil(type.lanes / 2.0) : type.lanes;
  }

  double vectors(ir::Type type) const {
    return static_cast<double>(ceil_div(type.lanes, std::max<std::int64_t>(target_.vector_lanes, 1)));
  }

  /// Counts an access of `lanes` elements to global or shared memory.
  void access(const std::string& name, int lanes, bool store, double times) {
    const ir::Buffer* const buffer = kernel_.find(name);
    if (buffer == nullptr) {
      (store ? mix_.shared_stores : mix_.shared_loads) += times;
      return;
    }
    (store ? mix_.stores : mix_.loads) += times;
    mix_.requested_bytes += static_cast<double>(lanes * ir::bytes(buffer->dtype)) * times;
  }

  void product(const std::string& name, double times) {
    const ir::mma::Atom& atom = *ir::mma::find_atom(name);
    mix_.arithmetic += times;
    mix_.flops +=
        2 * static_cast<double>(atom.m * atom.n * atom.k) / static_cast<double>(ir::gpu::warp * atom.warps) * times;
    mix_.tensor_cycles += ir::mma::tensor_cycles(atom, target_.name) / ir::gpu::warp * times;
  }

  /// Counts one conversion for two elements. Values that are already bits need no conversion.
  void pack(const ir::Pack& s, double times) {
    const bool converts = std::ranges::any_of(s.values, [&](const std::string& v) { return !bits_.contains(v); });
    if (ir::is_float16(s.type.dtype) && converts) mix_.arithmetic += registers_of(s.type) * times;
  }

  /// Counts a copy from global to shared memory, with these numbers of loads and stores.
  void copy(const std::string& source, int lanes, int loads, int stores, double times) {
    access(source, lanes, false, loads * times);
    mix_.shared_stores += stores * times;
  }

  void shuffle(const ir::WarpShuffle& s, double times) {
    const auto steps = std::countr_zero(static_cast<std::uint64_t>(s.length));
    operation(s.op, s.type, steps * times);
    mix_.arithmetic += steps * times;  // instructions of the exchange
  }

  /// Half of the threads work in the first step, a quarter in the next.
  void halve(const ir::TreeHalve& s, double times) {
    mix_.barriers += std::countr_zero(static_cast<std::uint64_t>(s.length)) * times;
    mix_.shared_loads += 2 * times;
    mix_.shared_stores += times;
    operation(s.op, {}, times);
  }

  void statement(const ir::Stmt& stmt, double times) {
    match(
        stmt.node,
        [&](const ir::Load& s) {
          access(s.buffer, s.type.lanes, false, ir::reads_apart(s) ? s.type.lanes * times : times);
        },
        [&](const ir::Write& s) {
          access(s.buffer, s.lanes, true, ir::writes_apart(s) ? s.lanes * times : times);
          if (ir::adds(s.mode)) mix_.atomics += (s.mode == ir::WriteMode::add ? s.lanes : 1) * times;
        },
        [&](const ir::Assign& s) { operation(s.op, s.type, times); },
        [&](const ir::Accum& s) { operation(s.op, s.type, times); },
        [&](const ir::Scale& s) { operation(ir::Op::multiply, s.type, times); },
        [&](const ir::CpAsyncCopy& s) {
          access(s.source, s.lanes, false, times);
          mix_.shared_stores += times;
        },
        [&](const ir::Pack& s) { pack(s, times); },
        [&](const ir::QuadTranspose& s) {  // a conversion, an exchange and two choices for each value
          mix_.arithmetic += 4 * static_cast<double>(s.values.size()) * times;
        },
        [&](const ir::CopyPairs& s) {
          copy(s.source, ir::pairs::depth * ir::pairs::lanes, ir::pairs::depth, 1, times);
        },
        [&](const ir::CopyTransposed& s) { copy(s.source, s.size, s.size, s.size, times); },
        [&](const ir::DotPairs&) {
          mix_.arithmetic += times;
          mix_.flops += 2 * ir::pairs::depth * ir::pairs::lanes * times;
        },
        [&](const ir::LdMatrix&) { mix_.shared_loads += times; }, [&](const ir::Mma& s) { product(s.atom, times); },
        [&](const ir::Wgmma& s) { product(s.atom, times); }, [&](const ir::WgmmaWait&) { mix_.barriers += times; },
        [&](const ir::ClusterLoad&) { mix_.shared_loads += times; },
        [&](const ir::ClusterSync&) { mix_.barriers += times; }, [&](const ir::TmaLoad& s) { box(s, times); },
        [&](const ir::Prefetch&) { mix_.prefetches += times; }, [&](const ir::If&) { mix_.branches += times; },
        [&](const ir::Sync&) { mix_.barriers += times; },
        [&](const ir::MbarrierWait&) { mix_.barriers += producing_ ? 0 : times; },
        [&](const ir::WarpShuffle& s) { shuffle(s, times); }, [&](const ir::TreeHalve& s) { halve(s, times); },
        // Not counted here: statements whose body is counted, declarations, and single instructions among thousands.
        [](const ir::Loop&) {}, [](const ir::Tile&) {}, [](const ir::Index&) {}, [](const ir::Init&) {},
        [](const ir::Smem&) {}, [](const ir::CpAsyncCommit&) {}, [](const ir::CpAsyncWait&) {},
        [](const ir::WgmmaFence&) {}, [](const ir::WgmmaCommit&) {}, [](const ir::MbarrierArrive&) {},
        [](const ir::Produce&) {}, [](const ir::MbarrierInit&) {}, [](const ir::MbarrierArriveExpectTx&) {},
        [](const ir::TmaDescriptor&) {}, [](const ir::ProxyFence&) {},
        []<class S>(const S&) requires(!ir::permits<S>(ir::Level::kernel) || ir::is_listed<S>(ir::BlockStatements())) {
          CHECK(!"a statement of a scheduled kernel");
        });
  }

  /// Counts a box of TMA, which one thread of the block starts.
  void box(const ir::TmaLoad& load, double times) {
    const ir::TmaDescriptor& descriptor = *boxes_.at(load.descriptor);
    const std::int64_t bytes = ir::bytes(kernel_.find(descriptor.source)->dtype) * ir::element_count(descriptor.box);
    mix_.requested_bytes += static_cast<double>(bytes) * times / threads_;
  }

  /// The live range of a value, from its definition to the last statement that reads it, and its width in registers.
  struct Life {
    std::size_t first = 0, last = 0;
    double width = 1;
  };
  void live(const ir::Stmt& stmt) {
    ++position_;
    const auto touch = [&](const std::string& name) {
      if (const auto found = lives_.find(name); found != lives_.end()) found->second.last = position_;
    };
    ir::for_each_read(stmt, touch);
    ir::Type type;
    if (const auto* s = stmt.as<ir::Load>()) type = s->type;
    if (const auto* s = stmt.as<ir::LdMatrix>()) type = s->type;
    if (const auto* s = stmt.as<ir::Pack>()) type = s->type;
    if (const auto* s = stmt.as<ir::QuadTranspose>()) type = s->type;
    if (const auto* s = stmt.as<ir::ClusterLoad>()) type = s->type;
    if (const auto* s = stmt.as<ir::Assign>()) type = s->type;
    if (const auto* s = stmt.as<ir::Accum>()) type = s->type;
    if (const auto* s = stmt.as<ir::Init>()) type = s->type;
    const std::string& name = ir::defined(stmt);
    if (name.empty()) return;
    const auto [life, fresh] = lives_.try_emplace(name, Life{position_, position_, 1});
    life->second.last = position_;
    if (fresh) life->second.width = target_.cpu ? vectors(type) : registers_of(type);
    if (ir::is_float16(type.dtype)) bits_.insert(name);
  }

  double max_alive() const {
    std::vector<double> change(position_ + 2);
    for (const auto& [name, life] : lives_) {
      change[life.first] += life.width;
      change[life.last + 1] -= life.width;
    }
    double alive = 0, peak = 0;
    for (const double difference : change) peak = std::max(peak, alive += difference);
    return peak;
  }

  const ir::Program& kernel_;
  const Target& target_;
  ir::Ranges scope_;
  double threads_ = 1, blocks_ = 1;
  bool producing_ = false;  // inside a Produce
  std::size_t position_ = 0;
  std::unordered_map<std::string, Life> lives_;
  std::unordered_set<std::string> bits_;  // values that are bits of 16-bit elements
  std::map<std::string, const ir::TmaDescriptor*> boxes_;
  Mix mix_;
};

}  // namespace

Mix count_mix(const ir::Program& kernel, const Target& target) { return MixCounter(kernel, target).result(); }

}  // namespace deplo::rules
