// Emits the source of each statement. Private to ir/emit.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ir/emit/kernel_text.h"

namespace deplo::ir::emitter {

// emit.cpp
void emit(KernelText&, const Body&);
void emit(KernelText&, const Loop&);
void emit(KernelText&, const If&);
void emit(KernelText&, const Tile&);
void emit(KernelText&, const Smem&);
void emit(KernelText&, const Sync&);
void emit(KernelText&, const TreeHalve&);
template <class S>
requires(!permits<S>(Level::kernel)) void emit(KernelText&, const S&) { CHECK(!"a statement of Kernel IR"); }
void shared_array(KernelText&, std::string_view element, const std::string& name, std::int64_t count,
                  std::int64_t align);

// emit_block.cpp: programs that are lowered block by block
void emit(KernelText&, const Constant&);
void emit(KernelText&, const Compute&);
void emit(KernelText&, const Local&);
void emit(KernelText&, const Table&);
void emit(KernelText&, const Get&);
void emit(KernelText&, const Put&);
void emit(KernelText&, const Address&);
void emit(KernelText&, const LoadAt&);
void emit(KernelText&, const StoreAt&);
void emit(KernelText&, const Atomic&);
void emit(KernelText&, const Fence&);
void emit(KernelText&, const Branch&);
void emit(KernelText&, const Forever&);
void emit(KernelText&, const Jump&);
void emit(KernelText&, const Print&);
void declare_block_memory(KernelText&);
std::string block_definitions(const KernelText&);

// emit_async.cpp: CUDA only
void emit(KernelText&, const WarpShuffle&);
void emit(KernelText&, const ClusterSync&);
void emit(KernelText&, const ClusterLoad&);
void emit(KernelText&, const CpAsyncCopy&);
void emit(KernelText&, const CpAsyncCommit&);
void emit(KernelText&, const CpAsyncWait&);
void emit(KernelText&, const ProxyFence&);
void emit(KernelText&, const MbarrierInit&);
void emit(KernelText&, const MbarrierArriveExpectTx&);
void emit(KernelText&, const MbarrierArrive&);
void emit(KernelText&, const MbarrierWait&);
void emit(KernelText&, const Produce&);
void emit(KernelText&, const TmaDescriptor&);
void emit(KernelText&, const TmaLoad&);
/// Emits what the threads need before they start copies: prefetches of tensor maps, and the number of the warp.
void prepare_issue(KernelText&);
/// True if the statement makes the first thread start copies, and nothing else. Then any thread of its warp may start
/// them. The compiler knows that an elected thread is alone. It does not know this of thread 0, and would write a loop
/// around each copy.
bool is_issue(const KernelText&, const If&);
/// Returns the condition that selects an elected thread of the first warp.
std::string first_warp_elects(const KernelText&);

// emit_matrix.cpp: CUDA only
void emit(KernelText&, const LdMatrix&);
void emit(KernelText&, const Pack&);
void emit(KernelText&, const QuadTranspose&);
void emit(KernelText&, const Mma&);
void emit(KernelText&, const Wgmma&);
void emit(KernelText&, const WgmmaFence&);
void emit(KernelText&, const WgmmaCommit&);
void emit(KernelText&, const WgmmaWait&);

// emit_pairs.cpp: OpenCL only
void emit(KernelText&, const CopyPairs&);
void emit(KernelText&, const CopyTransposed&);
void emit(KernelText&, const DotPairs&);

// emit_memory.cpp
void emit(KernelText&, const Load&);
void emit(KernelText&, const Write&);
void emit(KernelText&, const Prefetch&);
/// CUDA: defines the scalars of a value's lanes, from `first` on, because operations work on lanes. `of` is the type of
/// `wide`: a vector of elements, or of words with two 16-bit elements each.
void name_lanes(KernelText&, const std::string& value, Type, const std::string& wide, Type of, int first);

// emit_values.cpp
void emit(KernelText&, const Index&);
void emit(KernelText&, const Assign&);
void emit(KernelText&, const Accum&);
void emit(KernelText&, const Scale&);
void emit(KernelText&, const Init&);
/// Returns the operation on the given texts. `args`: the arguments that the texts stand for, or empty if they are not
/// known.
std::string operation(KernelText&, Op, std::span<const std::string_view> texts, const std::vector<Arg>& args, Type);

}  // namespace deplo::ir::emitter
