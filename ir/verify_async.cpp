// Asynchronous copies and what waits for them; warp shuffles.
#include <fmt/format.h>

#include "ir/verifier.h"

namespace deplo::ir {

bool Verifier::check(const AsyncWait&) { return convergent(); }
bool Verifier::check(const WarpShuffle&) { return convergent(); }
bool Verifier::check(const CpAsyncCopy&) { return true; }
bool Verifier::check(const CpAsyncCommit&) { return true; }
bool Verifier::check(const CpAsyncWait&) { return true; }
bool Verifier::check(const MbarrierInit&) { return convergent(); }
bool Verifier::check(const MbarrierArriveExpectTx&) { return true; }
bool Verifier::check(const MbarrierWait&) { return true; }
bool Verifier::check(const TmaDescriptor&) { return true; }
bool Verifier::check(const TmaLoad&) { return true; }

}  // namespace deplo::ir
