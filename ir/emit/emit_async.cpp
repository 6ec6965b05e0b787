// Warp shuffles, cp.async, mbarriers and TMA: CUDA only.
#include <array>

#include "core/error.h"
#include "ir/emit/emitter.h"

namespace deplo::ir {

// All threads of the warp take part; a block may end within its last one.
std::string Emitter::warp_mask() const {
  constexpr std::int64_t warp = 32;
  const std::int64_t whole = source_.threads / warp, rest = source_.threads % warp;
  if (rest == 0) return "0xffffffff";
  const std::string last = fmt::format("{:#x}", (std::uint64_t{1} << rest) - 1);
  return whole == 0 ? last : fmt::format("thread < {} ? 0xffffffff : {}", whole * warp, last);
}

void Emitter::emit(const WarpShuffle& s) {
  CHECK(cuda() && source_.threads % s.length == 0);
  const std::string mask = warp_mask(), type = type_name(s.type, dialect());
  types_[s.dst] = s.type;
  for (int lane = 0; lane < s.type.lanes; ++lane) {
    const bool split = s.type.lanes > 1;
    const std::string dst = split ? fmt::format("{}_{}", s.dst, lane) : s.dst;
    print("{} {} = {};", type, dst, argument(s.value, s.type.dtype, lane));
    for (std::int64_t distance = s.length / 2; distance > 0; distance /= 2) {
      const std::string other = fmt::format("__shfl_xor_sync({}, {}, {})", mask, dst, distance);
      print("{} = {};", dst, call(s.op, std::array<std::string_view, 2>{dst, other}, {s.type.dtype, 1}, dialect()));
    }
  }
}

void Emitter::emit(const CpAsyncCopy& s) {
  const std::int64_t size = s.lanes * bytes(memory_.at(s.buffer).dtype);
  CHECK(cuda() && (size == 4 || size == 8 || size == 16));
  helpers_.insert(size == 4 ? Helper::cp_async_4 : size == 8 ? Helper::cp_async_8 : Helper::cp_async_16);
  print("cp_async_{}(&{}, &{});", size, element(s.buffer, s.index), element(s.source, s.at));
}

void Emitter::emit(const CpAsyncCommit&) {
  CHECK(cuda());
  line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
}

void Emitter::emit(const CpAsyncWait& s) {
  CHECK(cuda());
  print("asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");", s.keep);
}

void Emitter::emit(const MbarrierInit& s) {
  CHECK(cuda());
  helpers_.insert(Helper::mbarrier_init);
  shared_array("unsigned long long", s.barrier, s.slots, 8);
  line("if (thread == 0) {");
  ++indent_;
  for (std::int64_t slot = 0; slot < s.slots; ++slot) print("mbarrier_init(&{}[{}], {});", s.barrier, slot, s.count);
  --indent_;
  line("}");
}

void Emitter::emit(const MbarrierArriveExpectTx& s) {
  CHECK(cuda());
  helpers_.insert(Helper::mbarrier_arrive_expect_tx);
  print("mbarrier_arrive_expect_tx(&{}[{}], {});", s.barrier, code(s.slot), s.bytes);
}

void Emitter::emit(const MbarrierWait& s) {
  CHECK(cuda());
  helpers_.insert(Helper::mbarrier_wait);
  print("mbarrier_wait(&{}[{}], {});", s.barrier, code(s.slot), code(s.phase));
}

// Parameters, which signature() wrote.
void Emitter::emit(const TmaDescriptor&) { CHECK(cuda()); }

void Emitter::emit(const TmaLoad& s) {
  constexpr std::array ranks = {Helper::tma_load_1d, Helper::tma_load_2d, Helper::tma_load_3d, Helper::tma_load_4d,
                                Helper::tma_load_5d};
  const std::size_t rank = s.coordinates.size();
  CHECK(cuda() && rank >= 1 && rank <= ranks.size());
  helpers_.insert(ranks[rank - 1]);
  std::string coordinates;  // the hardware counts from the innermost dimension
  for (std::size_t i = rank; i-- > 0;) coordinates += code(s.coordinates[i]) + ", ";
  print("tma_load_{}d(&{}, {}, {}&{}[{}]);", rank, element(s.buffer, s.index), s.descriptor, coordinates, s.barrier,
        code(s.slot));
}

}  // namespace deplo::ir
