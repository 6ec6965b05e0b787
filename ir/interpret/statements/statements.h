// The meaning of each statement. compile() turns the statement into instructions, or declares something. Private to the
// interpreter.
#pragma once
#include "ir/interpret/compiler.h"

namespace deplo::ir::exec {

// loop_statements.cpp
void compile(Compiler&, const Loop&);
void compile(Compiler&, const If&);
void compile(Compiler&, const Load&);
void compile(Compiler&, const ir::Index&);
void compile(Compiler&, const Assign&);
void compile(Compiler&, const Accum&);
void compile(Compiler&, const SoftmaxSum&);
void compile(Compiler&, const Scale&);
void compile(Compiler&, const Write&);

// tile_statements.cpp
void compile(Compiler&, const Tile&);
void compile(Compiler&, const Stage&);
void compile(Compiler&, const AsyncWait&);
void compile(Compiler&, const Combine&);
void compile(Compiler&, const Prefetch&);

// kernel_statements.cpp
void compile(Compiler&, const Smem&);
void compile(Compiler&, const Init&);
void compile(Compiler&, const Sync&);
void compile(Compiler&, const TreeHalve&);
void compile(Compiler&, const WarpShuffle&);
void compile(Compiler&, const ClusterSync&);
void compile(Compiler&, const ClusterLoad&);
void compile(Compiler&, const CpAsyncCopy&);
void compile(Compiler&, const CpAsyncCommit&);
void compile(Compiler&, const CpAsyncWait&);
void compile(Compiler&, const MbarrierInit&);
void compile(Compiler&, const MbarrierArriveExpectTx&);
void compile(Compiler&, const MbarrierArrive&);
void compile(Compiler&, const MbarrierWait&);
void compile(Compiler&, const ProxyFence&);
void compile(Compiler&, const TmaDescriptor&);
void compile(Compiler&, const TmaLoad&);
void compile(Compiler&, const Produce&);

// pair_statements.cpp
void compile(Compiler&, const CopyPairs&);
void compile(Compiler&, const CopyTransposed&);
void compile(Compiler&, const DotPairs&);

// matrix_statements.cpp
void compile(Compiler&, const LdMatrix&);
void compile(Compiler&, const Pack&);
void compile(Compiler&, const QuadTranspose&);
void compile(Compiler&, const Mma&);
void compile(Compiler&, const Wgmma&);
void compile(Compiler&, const WgmmaFence&);
void compile(Compiler&, const WgmmaCommit&);
void compile(Compiler&, const WgmmaWait&);

// block_statements.cpp
void compile(Compiler&, const Constant&);
void compile(Compiler&, const Compute&);
void compile(Compiler&, const Local&);
void compile(Compiler&, const Table&);
void compile(Compiler&, const Get&);
void compile(Compiler&, const Put&);
void compile(Compiler&, const Address&);
void compile(Compiler&, const LoadAt&);
void compile(Compiler&, const StoreAt&);
void compile(Compiler&, const Atomic&);
void compile(Compiler&, const Fence&);
void compile(Compiler&, const Branch&);
void compile(Compiler&, const Forever&);
void compile(Compiler&, const Jump&);
void compile(Compiler&, const Print&);

}  // namespace deplo::ir::exec
