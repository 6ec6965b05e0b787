// Warp shuffles, cp.async, mbarriers and TMA: CUDA only.
#include "core/error.h"
#include "ir/emit/emitter.h"

namespace deplo::ir {

void Emitter::emit(const WarpShuffle&) { throw Error("WarpShuffle: not emitted yet"); }
void Emitter::emit(const CpAsyncCopy&) { throw Error("CpAsyncCopy: not emitted yet"); }
void Emitter::emit(const CpAsyncCommit&) { throw Error("CpAsyncCommit: not emitted yet"); }
void Emitter::emit(const CpAsyncWait&) { throw Error("CpAsyncWait: not emitted yet"); }
void Emitter::emit(const MbarrierInit&) { throw Error("MbarrierInit: not emitted yet"); }
void Emitter::emit(const MbarrierArriveExpectTx&) { throw Error("MbarrierArriveExpectTx: not emitted yet"); }
void Emitter::emit(const MbarrierWait&) { throw Error("MbarrierWait: not emitted yet"); }
void Emitter::emit(const TmaDescriptor&) { throw Error("TmaDescriptor: not emitted yet"); }
void Emitter::emit(const TmaLoad&) { throw Error("TmaLoad: not emitted yet"); }

}  // namespace deplo::ir
