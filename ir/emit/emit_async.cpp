// Warp shuffles, clusters, cp.async, mbarriers and TMA: CUDA only.
#include <algorithm>
#include <array>

#include "core/error.h"
#include "ir/emit/emitter.h"
#include "ir/hardware/gpu.h"
#include "ir/walk.h"

namespace deplo::ir {

namespace {

std::string mask_of(std::int64_t threads) { return fmt::format("{:#x}", (std::uint64_t{1} << threads) - 1); }

}  // namespace

// All threads of the warp take part; a block may end within its last one.
std::string Emitter::warp_mask() const {
  const std::int64_t whole = source_.threads / gpu::warp, rest = source_.threads % gpu::warp;
  if (rest == 0) return mask_of(gpu::warp);
  return whole == 0 ? mask_of(rest)
                    : fmt::format("thread < {} ? {} : {}", whole * gpu::warp, mask_of(gpu::warp), mask_of(rest));
}

void Emitter::emit(const WarpShuffle& s) {
  CHECK(spell_.ptx && source_.threads % s.length == 0);
  const std::string mask = warp_mask(), type = type_name(s.type, dialect());
  types_[s.dst] = s.type;
  for (int lane = 0; lane < s.type.lanes; ++lane) {
    const bool split = s.type.lanes > 1;
    const std::string dst = split ? fmt::format("{}_{}", s.dst, lane) : s.dst;
    print("{} {} = {};", type, dst, argument(s.value, s.type.dtype, lane));
    for (std::int64_t distance = s.length / 2; distance > 0; distance /= 2) {
      const std::string other = fmt::format("__shfl_xor_sync({}, {}, {})", mask, dst, distance);
      print("{} = {};", dst, operation(s.op, std::array<std::string_view, 2>{dst, other}, {}, {s.type.dtype, 1}));
    }
  }
}

// PTX ISA, "barrier.cluster": what was written before an arrival with .release is there for all after the wait. Such an
// arrival waits for all stores of its thread. If no block reads what another one wrote, the barrier only orders uses of
// mbarriers, whose initialisation has a fence of its own.
void Emitter::emit(const ClusterSync&) {
  CHECK(spell_.ptx);
  print("asm volatile(\"barrier.cluster.arrive.{}.aligned;\\n\"", reads_other_blocks_ ? "release" : "relaxed");
  line("             \"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");");
}

void Emitter::emit(const ClusterLoad& s) {
  const int n = s.type.lanes;
  CHECK(spell_.ptx && (n == 1 || n == 2 || n == 4));
  helpers_.insert(n == 1 ? Helper::cluster_load_1 : n == 2 ? Helper::cluster_load_2 : Helper::cluster_load_4);
  types_[s.dst] = s.type;
  print("const {} {} = cluster_load_{}(&{}, {});", element_name(s.type, dialect()), s.dst, n,
        element(s.buffer, s.index), code(s.block));
  if (n > 1) name_lanes(s.dst, s.type, s.dst, s.type, 0);
}

void Emitter::emit(const CpAsyncCopy& s) {
  const std::int64_t size = s.lanes * bytes(memory_.at(s.buffer).dtype);
  CHECK(spell_.ptx && (size == 4 || size == 8 || size == 16));
  helpers_.insert(size == 4 ? Helper::cp_async_4 : size == 8 ? Helper::cp_async_8 : Helper::cp_async_16);
  print("cp_async_{}(&{}, &{});", size, element(s.buffer, s.index), element(s.source, s.at));
}

void Emitter::emit(const CpAsyncCommit&) {
  CHECK(spell_.ptx);
  line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
}

void Emitter::emit(const ProxyFence&) {
  CHECK(spell_.ptx);
  line("asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");");
}

void Emitter::emit(const CpAsyncWait& s) {
  CHECK(spell_.ptx);
  print("asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");", s.keep);
}

void Emitter::emit(const MbarrierInit& s) {
  CHECK(spell_.ptx);
  helpers_.insert(Helper::mbarrier_init);
  shared_array("unsigned long long", s.barrier, s.slots, 8);
  line("if (thread == 0) {");
  ++indent_;
  for (std::int64_t slot = 0; slot < s.slots; ++slot) print("mbarrier_init(&{}[{}], {});", s.barrier, slot, s.count);
  --indent_;
  line("}");
}

void Emitter::emit(const MbarrierArriveExpectTx& s) {
  CHECK(spell_.ptx);
  helpers_.insert(Helper::mbarrier_arrive_expect_tx);
  print("mbarrier_arrive_expect_tx(&{}[{}], {});", s.barrier, code(s.slot), s.bytes);
}

void Emitter::emit(const MbarrierArrive& s) {
  CHECK(spell_.ptx);
  helpers_.insert(s.block ? Helper::mbarrier_arrive_afar : Helper::mbarrier_arrive);
  if (s.block)
    print("mbarrier_arrive_afar(&{}[{}], {});", s.barrier, code(s.slot), code(*s.block));
  else
    print("mbarrier_arrive(&{}[{}]);", s.barrier, code(s.slot));
}

void Emitter::emit(const MbarrierWait& s) {
  CHECK(spell_.ptx);
  helpers_.insert(Helper::mbarrier_wait);
  print("mbarrier_wait(&{}[{}], {});", s.barrier, code(s.slot), code(s.phase));
}

// Parameters, which signature() wrote.
void Emitter::emit(const TmaDescriptor&) { CHECK(spell_.ptx); }

// What one thread of the first warp is to know before it starts copies.
void Emitter::prepare_issue() {
  helpers_.insert({Helper::prefetch_tensor_map, Helper::elect_one});
  line("if (thread == 0) {");  // the first copy waits for its map otherwise
  ++indent_;
  for (const TmaDescriptor* descriptor : descriptors_) print("prefetch_tensor_map({});", descriptor->name);
  --indent_;
  line("}");
  print("const int warp = __shfl_sync({}, thread / {}, 0);", warp_mask(), gpu::warp);
}

// Does the first thread start copies, and nothing else? Then any thread of its warp may: of one that is elected the
// compiler knows that it is alone, of thread 0 it does not, and writes a loop around each copy.
bool Emitter::is_issue(const If& s) const {
  if (s.condition != equal(thread_, 0) || descriptors_.empty()) return false;
  return std::ranges::all_of(s.then, [&](const Stmt& stmt) {
    if (stmt.as<MbarrierArriveExpectTx>() == nullptr && stmt.as<TmaLoad>() == nullptr) return false;
    return std::ranges::none_of(reads(stmt).axes, [&](const std::string& axis) { return depends_on(thread_, axis); });
  });
}

std::string Emitter::first_warp_elects() const {
  return fmt::format("warp == 0 && elect_one({})", mask_of(std::min(source_.threads, gpu::warp)));
}

void Emitter::emit(const TmaLoad& s) {
  constexpr std::array to_block = {Helper::tma_load_1d, Helper::tma_load_2d, Helper::tma_load_3d, Helper::tma_load_4d,
                                   Helper::tma_load_5d};
  constexpr std::array to_cluster = {Helper::tma_multicast_1d, Helper::tma_multicast_2d, Helper::tma_multicast_3d,
                                     Helper::tma_multicast_4d, Helper::tma_multicast_5d};
  const std::size_t rank = s.coordinates.size();
  CHECK(spell_.ptx && rank >= 1 && rank <= to_block.size());
  helpers_.insert((s.multicast ? to_cluster : to_block)[rank - 1]);
  // PTX ISA, "cp.async.bulk.tensor": a target without the letter may do it at a substantially lower speed.
  source_.architecture_specific |= s.multicast;
  std::string coordinates;  // the hardware counts from the innermost dimension
  for (std::size_t i = rank; i-- > 0;) coordinates += code(s.coordinates[i]) + ", ";
  print("tma_{}_{}d(&{}, {}, {}&{}[{}]{});", s.multicast ? "multicast" : "load", rank, element(s.buffer, s.index),
        s.descriptor, coordinates, s.barrier, code(s.slot), s.multicast ? ", " + mask_of(source_.cluster) : "");
}

// The threads beside the block's leave when one of their first warp is done: behind it stands what the others do.
void Emitter::emit(const Produce& s) {
  CHECK(spell_.ptx && !descriptors_.empty());
  const std::int64_t block = count_of(kernel_.body, Bind::thread);
  print("if (thread >= {}) {{", block);
  ++indent_;
  source_.architecture_specific |= s.own > 0;
  if (s.own > 0) print("asm volatile(\"setmaxnreg.dec.sync.aligned.u32 {};\");", s.own);
  print("if (warp == {} && elect_one({})) {{", block / gpu::warp, mask_of(gpu::warp));
  ++indent_;
  body(s.body);
  --indent_;
  line("}");
  line("return;");
  --indent_;
  line("}");
  if (s.others > 0) print("asm volatile(\"setmaxnreg.inc.sync.aligned.u32 {};\");", s.others);
  print("__builtin_assume(thread < {});", block);
  produced_ = true;
}

}  // namespace deplo::ir
