#include "ir/stmt.h"

namespace deplo::ir {

template <Statement T>
Stmt::Stmt(T statement) : node(std::in_place_type<T>, std::move(statement)) {}

// loop.h
template Stmt::Stmt(Loop);
template Stmt::Stmt(If);
template Stmt::Stmt(Load);
template Stmt::Stmt(Index);
template Stmt::Stmt(Assign);
template Stmt::Stmt(Accum);
template Stmt::Stmt(SoftmaxSum);
template Stmt::Stmt(Write);
// tile.h
template Stmt::Stmt(Tile);
template Stmt::Stmt(Prefetch);
template Stmt::Stmt(Stage);
template Stmt::Stmt(AsyncWait);
template Stmt::Stmt(Combine);
template Stmt::Stmt(Scale);
// kernel.h
template Stmt::Stmt(Smem);
template Stmt::Stmt(Init);
template Stmt::Stmt(Sync);
template Stmt::Stmt(TreeHalve);
template Stmt::Stmt(WarpShuffle);
template Stmt::Stmt(LdMatrix);
template Stmt::Stmt(Pack);
template Stmt::Stmt(QuadTranspose);
template Stmt::Stmt(Mma);
template Stmt::Stmt(CopyPairs);
template Stmt::Stmt(CopyTransposed);
template Stmt::Stmt(DotPairs);
template Stmt::Stmt(Wgmma);
template Stmt::Stmt(WgmmaFence);
template Stmt::Stmt(WgmmaCommit);
template Stmt::Stmt(WgmmaWait);
template Stmt::Stmt(ClusterSync);
template Stmt::Stmt(ClusterLoad);
template Stmt::Stmt(CpAsyncCopy);
template Stmt::Stmt(CpAsyncCommit);
template Stmt::Stmt(CpAsyncWait);
template Stmt::Stmt(ProxyFence);
template Stmt::Stmt(MbarrierInit);
template Stmt::Stmt(MbarrierArriveExpectTx);
template Stmt::Stmt(MbarrierArrive);
template Stmt::Stmt(MbarrierWait);
template Stmt::Stmt(TmaDescriptor);
template Stmt::Stmt(TmaLoad);
template Stmt::Stmt(Produce);
// block.h
template Stmt::Stmt(Constant);
template Stmt::Stmt(Compute);
template Stmt::Stmt(Local);
template Stmt::Stmt(Table);
template Stmt::Stmt(Get);
template Stmt::Stmt(Put);
template Stmt::Stmt(Address);
template Stmt::Stmt(LoadAt);
template Stmt::Stmt(StoreAt);
template Stmt::Stmt(Atomic);
template Stmt::Stmt(Fence);
template Stmt::Stmt(Branch);
template Stmt::Stmt(Forever);
template Stmt::Stmt(Jump);
template Stmt::Stmt(Print);

Stmt::Stmt(const Stmt&) = default;
Stmt::Stmt(Stmt&&) noexcept = default;
Stmt& Stmt::operator=(const Stmt&) = default;
Stmt& Stmt::operator=(Stmt&&) noexcept = default;
Stmt::~Stmt() = default;
bool Stmt::operator==(const Stmt& other) const { return node == other.node; }

bool is_block_statement(const Stmt& stmt) {
  return std::visit([](const auto& s) { return is_listed<std::remove_cvref_t<decltype(s)>>(BlockStatements()); },
                    stmt.node);
}

}  // namespace deplo::ir
