// One check per statement. It checks the statement's requirements at its place in the program, and fails by throwing a
// Violation. Private to ir/verify.
#pragma once
#include "ir/verify/context.h"

namespace deplo::ir::verifier {

/// Checks the statements of a body. `loop`: the loop that the body belongs to; nullptr if it belongs to another
/// statement.
void check_body(Context&, const Body&, const Loop* loop = nullptr);

// check_loop.cpp: the statements of Loop IR
void check(Context&, const Loop&);
void check(Context&, const If&);
void check(Context&, const Load&);
void check(Context&, const Index&);
void check(Context&, const Assign&);
void check(Context&, const Accum&);
void check(Context&, const SoftmaxSum&);
void check(Context&, const Write&);

// check_tile.cpp: the statements of Tile IR
void check(Context&, const Tile&);
void check(Context&, const Stage&);
void check(Context&, const AsyncWait&);
void check(Context&, const Combine&);
void check(Context&, const Scale&);
void check(Context&, const Prefetch&);

// check_kernel.cpp: the statements of Kernel IR
void check(Context&, const Smem&);
void check(Context&, const Init&);
void check(Context&, const Sync&);
void check(Context&, const TreeHalve&);
void check(Context&, const WarpShuffle&);
void check(Context&, const LdMatrix&);
void check(Context&, const Pack&);
void check(Context&, const QuadTranspose&);
void check(Context&, const Mma&);
void check(Context&, const CopyPairs&);
void check(Context&, const CopyTransposed&);
void check(Context&, const DotPairs&);
void check(Context&, const Wgmma&);
void check(Context&, const WgmmaFence&);
void check(Context&, const WgmmaCommit&);
void check(Context&, const WgmmaWait&);
void check(Context&, const ClusterSync&);
void check(Context&, const ClusterLoad&);
void check(Context&, const CpAsyncCopy&);
void check(Context&, const CpAsyncCommit&);
void check(Context&, const CpAsyncWait&);
void check(Context&, const ProxyFence&);
void check(Context&, const MbarrierInit&);
void check(Context&, const MbarrierArriveExpectTx&);
void check(Context&, const MbarrierArrive&);
void check(Context&, const MbarrierWait&);
void check(Context&, const TmaDescriptor&);
void check(Context&, const TmaLoad&);
void check(Context&, const Produce&);

// check_block.cpp: the statements of programs that are lowered block by block
void check(Context&, const Constant&);
void check(Context&, const Compute&);
void check(Context&, const Local&);
void check(Context&, const Table&);
void check(Context&, const Get&);
void check(Context&, const Put&);
void check(Context&, const Address&);
void check(Context&, const LoadAt&);
void check(Context&, const StoreAt&);
void check(Context&, const Atomic&);
void check(Context&, const Fence&);
void check(Context&, const Branch&);
void check(Context&, const Forever&);
void check(Context&, const Jump&);
void check(Context&, const Print&);

}  // namespace deplo::ir::verifier
