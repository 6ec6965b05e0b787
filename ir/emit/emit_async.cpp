// Warp shuffles, clusters, cp.async, mbarriers and TMA; only in CUDA.
#include <algorithm>
#include <array>

#include "core/error.h"
#include "ir/emit/statements.h"
#include "ir/hardware/gpu.h"
#include "ir/walk.h"

namespace deplo::ir::emitter {

namespace {

std::string mask_of(std::int64_t threads) { return fmt::format("{:#x}", (std::uint64_t{1} << threads) - 1); }

// Returns the mask of all threads of the warp. The last warp of a block may be incomplete.
std::string warp_mask(const KernelText& k) {
  const std::int64_t whole = k.source.threads / gpu::warp, rest = k.source.threads % gpu::warp;
  if (rest == 0) return mask_of(gpu::warp);
  return whole == 0 ? mask_of(rest)
                    : fmt::format("thread < {} ? {} : {}", whole * gpu::warp, mask_of(gpu::warp), mask_of(rest));
}

}  // namespace

void emit(KernelText& k, const WarpShuffle& s) {
  CHECK(k.spell.ptx && k.source.threads % s.length == 0);
  const std::string mask = warp_mask(k), type = type_name(s.type, k.spell.dialect);
  k.names.types[s.dst] = s.type;
  for (int lane = 0; lane < s.type.lanes; ++lane) {
    const bool split = s.type.lanes > 1;
    const std::string dst = split ? fmt::format("{}_{}", s.dst, lane) : s.dst;
    k.print("{} {} = {};", type, dst, k.names.argument(s.value, s.type.dtype, lane));
    for (std::int64_t distance = s.length / 2; distance > 0; distance /= 2) {
      const std::string other = fmt::format("__shfl_xor_sync({}, {}, {})", mask, dst, distance);
      k.print("{} = {};", dst, operation(k, s.op, std::array<std::string_view, 2>{dst, other}, {}, {s.type.dtype, 1}));
    }
  }
}

// PTX ISA, "barrier.cluster": after the wait, all threads see what was written before an arrival with .release. Such an
// arrival waits for all stores of its thread. If no block reads what another one wrote, the barrier only orders uses of
// mbarriers, whose initialisation has its own fence.
void emit(KernelText& k, const ClusterSync&) {
  CHECK(k.spell.ptx);
  k.print("asm volatile(\"barrier.cluster.arrive.{}.aligned;\\n\"", k.reads_other_blocks ? "release" : "relaxed");
  k.line("             \"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");");
}

void emit(KernelText& k, const ClusterLoad& s) {
  const int n = s.type.lanes;
  CHECK(k.spell.ptx && (n == 1 || n == 2 || n == 4));
  k.functions.call(Helper::cluster_load, n);
  k.names.types[s.dst] = s.type;
  k.print("const {} {} = cluster_load_{}(&{}, {});", element_name(s.type, k.spell.dialect), s.dst, n,
          k.names.element(s.buffer, s.index), k.names.code(s.block));
  if (n > 1) name_lanes(k, s.dst, s.type, s.dst, s.type, 0);
}

void emit(KernelText& k, const CpAsyncCopy& s) {
  const std::int64_t size = s.lanes * bytes(k.names.memory.at(s.buffer).dtype);
  CHECK(k.spell.ptx && (size == 4 || size == 8 || size == 16));
  k.functions.call(Helper::cp_async, static_cast<int>(size));
  k.print("cp_async_{}(&{}, &{});", size, k.names.element(s.buffer, s.index), k.names.element(s.source, s.at));
}

void emit(KernelText& k, const CpAsyncCommit&) {
  CHECK(k.spell.ptx);
  k.line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
}

void emit(KernelText& k, const ProxyFence&) {
  CHECK(k.spell.ptx);
  k.line("asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");");
}

void emit(KernelText& k, const CpAsyncWait& s) {
  CHECK(k.spell.ptx);
  k.print("asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");", s.keep);
}

void emit(KernelText& k, const MbarrierInit& s) {
  CHECK(k.spell.ptx);
  k.functions.call(Helper::mbarrier_init);
  shared_array(k, "unsigned long long", s.barrier, s.slots, 8);
  k.line("if (thread == 0) {");
  k.indent();
  for (std::int64_t slot = 0; slot < s.slots; ++slot) k.print("mbarrier_init(&{}[{}], {});", s.barrier, slot, s.count);
  k.end();
}

void emit(KernelText& k, const MbarrierArriveExpectTx& s) {
  CHECK(k.spell.ptx);
  k.functions.call(Helper::mbarrier_arrive_expect_tx);
  k.print("mbarrier_arrive_expect_tx(&{}[{}], {});", s.barrier, k.names.code(s.slot), s.bytes);
}

void emit(KernelText& k, const MbarrierArrive& s) {
  CHECK(k.spell.ptx);
  k.functions.call(s.block ? Helper::mbarrier_arrive_afar : Helper::mbarrier_arrive);
  if (s.block)
    k.print("mbarrier_arrive_afar(&{}[{}], {});", s.barrier, k.names.code(s.slot), k.names.code(*s.block));
  else
    k.print("mbarrier_arrive(&{}[{}]);", s.barrier, k.names.code(s.slot));
}

void emit(KernelText& k, const MbarrierWait& s) {
  CHECK(k.spell.ptx);
  k.functions.call(Helper::mbarrier_wait);
  k.print("mbarrier_wait(&{}[{}], {});", s.barrier, k.names.code(s.slot), k.names.code(s.phase));
}

// Descriptors are parameters of the kernel, which signature() writes.
void emit(KernelText& k, const TmaDescriptor&) { CHECK(k.spell.ptx); }

void prepare_issue(KernelText& k) {
  k.functions.call(Helper::prefetch_tensor_map);
  k.functions.call(Helper::elect_one);
  k.line("if (thread == 0) {");  // otherwise the first copy waits for its tensor map
  k.indent();
  for (const TmaDescriptor* descriptor : k.descriptors) k.print("prefetch_tensor_map({});", descriptor->name);
  k.end();
  k.print("const int warp = __shfl_sync({}, thread / {}, 0);", warp_mask(k), gpu::warp);
}

bool is_issue(const KernelText& k, const If& s) {
  if (s.condition != equal(k.names.thread, 0) || k.descriptors.empty()) return false;
  return std::ranges::all_of(s.then, [&](const Stmt& stmt) {
    if (stmt.as<MbarrierArriveExpectTx>() == nullptr && stmt.as<TmaLoad>() == nullptr) return false;
    return std::ranges::none_of(reads(stmt).axes,
                                [&](const std::string& axis) { return depends_on(k.names.thread, axis); });
  });
}

std::string first_warp_elects(const KernelText& k) {
  return fmt::format("warp == 0 && elect_one({})", mask_of(std::min(k.source.threads, gpu::warp)));
}

void emit(KernelText& k, const TmaLoad& s) {
  const std::size_t rank = s.coordinates.size();
  CHECK(k.spell.ptx && rank >= 1 && rank <= 5);
  k.functions.call(s.multicast ? Helper::tma_multicast : Helper::tma_load, static_cast<int>(rank));
  // PTX ISA, "cp.async.bulk.tensor": multicast may be substantially slower on a target without the suffix `a`.
  k.source.architecture_specific |= s.multicast;
  std::string coordinates;  // the hardware expects the innermost dimension first
  for (std::size_t i = rank; i-- > 0;) coordinates += k.names.code(s.coordinates[i]) + ", ";
  k.print("tma_{}_{}d(&{}, {}, {}&{}[{}]{});", s.multicast ? "multicast" : "load", rank,
          k.names.element(s.buffer, s.index), s.descriptor, coordinates, s.barrier, k.names.code(s.slot),
          s.multicast ? ", " + mask_of(k.source.cluster) : "");
}

// The extra threads leave the kernel when an elected thread of their first warp has executed the body. The text that
// follows is only executed by the other threads.
void emit(KernelText& k, const Produce& s) {
  CHECK(k.spell.ptx && !k.descriptors.empty());
  const std::int64_t block = count_of(k.kernel.body, Bind::thread);
  k.print("if (thread >= {}) {{", block);
  k.indent();
  k.source.architecture_specific |= s.own > 0;
  if (s.own > 0) k.print("asm volatile(\"setmaxnreg.dec.sync.aligned.u32 {};\");", s.own);
  k.print("if (warp == {} && elect_one({})) {{", block / gpu::warp, mask_of(gpu::warp));
  k.indent();
  emit(k, s.body);
  k.end();
  k.line("return;");
  k.end();
  if (s.others > 0) k.print("asm volatile(\"setmaxnreg.inc.sync.aligned.u32 {};\");", s.others);
  k.print("__builtin_assume(thread < {});", block);
  k.produced = true;
}

}  // namespace deplo::ir::emitter
