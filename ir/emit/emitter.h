// One-to-one tree walk over Kernel IR. Private to ir/emit.
#pragma once
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/emit/dialect.h"
#include "ir/emit/emit.h"
#include "ir/emit/expression.h"
#include "ir/emit/helpers.h"
#include "ir/emit/shared_layout.h"
#include "ir/emit/simd.h"
#include "ir/emit/source_text.h"

namespace deplo::ir {

class Emitter : SourceText {
 public:
  Emitter(const Program& kernel, const Target& target)
      : kernel_(kernel), target_(target), spell_(speller(target)), native_(spell_.vectors) {}
  KernelSource run();

 private:
  // emit.cpp
  void declare(const Buffer&);
  void declare(const TmaDescriptor&);
  void declare(const Smem&);
  void declare_shared();
  std::string signature() const;
  void shared_array(std::string_view element, const std::string& name, std::int64_t count, std::int64_t align);
  std::string_view index_type(std::int64_t most) const;
  void axes(const Tile&, Bind, std::string_view id);
  void body(const Body&);
  void emit(const Loop&);
  void emit(const If&);
  void emit(const Tile&);
  void emit(const Smem&);
  void emit(const Sync&);
  void emit(const TreeHalve&);
  template <class S>
  requires(!permits(S::levels, Level::kernel)) void emit(const S&) { CHECK(!"a statement of Kernel IR"); }

  // emit_block.cpp: programs that are lowered block by block
  /// The value in an expression of operations on scalars.
  std::string scalar(const std::string& value) const;
  void define(const std::string& dst, DType, const std::string& value);
  void declare_block_memory();
  std::string block_definitions() const;
  std::string at_address(const std::string& address, DType, bool strong, bool stores) const;
  void point_behind(const Compute& sum);
  void nested(const Body&);
  void emit(const Constant&);
  void emit(const Compute&);
  void emit(const Local&);
  void emit(const Table&);
  void emit(const Get&);
  void emit(const Put&);
  void emit(const Address&);
  void emit(const LoadAt&);
  void emit(const StoreAt&);
  void emit(const Atomic&);
  void emit(const Fence&);
  void emit(const Branch&);
  void emit(const Forever&);
  void emit(const Jump&);
  void emit(const Print&);

  // emit_async.cpp: CUDA only
  std::string warp_mask() const;
  void emit(const WarpShuffle&);
  void emit(const ClusterSync&);
  void emit(const ClusterLoad&);
  void emit(const CpAsyncCopy&);
  void emit(const CpAsyncCommit&);
  void emit(const CpAsyncWait&);
  void emit(const ProxyFence&);
  void emit(const MbarrierInit&);
  void emit(const MbarrierArriveExpectTx&);
  void emit(const MbarrierArrive&);
  void emit(const MbarrierWait&);
  void emit(const Produce&);
  void emit(const TmaDescriptor&);
  void prepare_issue();
  bool is_issue(const If&) const;
  std::string first_warp_elects() const;
  void emit(const TmaLoad&);

  // emit_matrix.cpp: CUDA only
  std::string sum_operands(const std::vector<std::string>& sums) const;
  std::string matrix_descriptor(const SharedMatrix&);
  std::vector<std::string> words(const std::string& fragment) const;
  void emit(const LdMatrix&);
  void emit(const Pack&);
  void emit(const QuadTranspose&);
  void emit(const Mma&);
  void emit(const Wgmma&);
  void emit(const WgmmaFence&);
  void emit(const WgmmaCommit&);
  void emit(const WgmmaWait&);

  // emit_pairs.cpp: OpenCL only
  void emit(const CopyPairs&);
  void emit(const CopyTransposed&);
  void emit(const DotPairs&);

  // emit_memory.cpp
  void emit(const Load&);
  std::string native_load(const Load&, bool converts);
  void load_lanes(const Load&, int first, int count);
  void load_apart(const Load&);
  bool lie_together(const Load&) const;
  std::int64_t repeats(const Load&) const;
  std::string repeated(const Load&);
  void name_lanes(const std::string& value, Type, const std::string& wide, Type of, int first);
  std::string place(const std::string& buffer, const std::vector<Expr>& index, std::string_view type) const;
  void emit(const Write&);
  void write_apart(const Write&, bool converts);
  void native_write(const Write&, bool converts);
  void write_lanes(const Write&, int first, int count);
  void add(const Write&);
  std::string scalars(const Arg&, Type, int first = 0) const;
  void emit(const Prefetch&);

  // emit_values.cpp
  void emit(const Index&);
  void emit(const Assign&);
  void emit(const Accum&);
  void emit(const Scale&);
  void emit(const Init&);
  void assign(const std::string& name, Type, Op, const std::vector<Arg>&, bool declare);
  std::string operation(Op, std::span<const std::string_view> texts, const std::vector<Arg>&, Type);
  Type type_of(const Arg&, DType of_constant) const;
  std::string argument(const Arg&, DType of_constant, int lane) const;
  std::string broadcast(const Arg&, Type) const;

  // The name of a lane's scalar in CUDA.
  static std::string lane_name(const std::string& value, int lane) { return value + "_" + std::to_string(lane); }

  Dialect dialect() const { return target_.dialect; }
  std::string code(const Expr& e) const { return index_code(by_thread(e), ranges_, spell_); }
  Expr by_thread(const Expr&) const;
  std::string offset(const std::string& buffer, const std::vector<Expr>& index) const;
  std::string element(const std::string& buffer, const std::vector<Expr>& index) const {
    return buffer + "[" + offset(buffer, index) + "]";
  }

  struct Memory {
    DType dtype = DType::f32;
    std::vector<std::int64_t> strides;
    std::int64_t span = 0;  // elements from the first to the last, inclusive
    std::string_view space;
  };
  const Program& kernel_;
  const Target& target_;
  const Speller& spell_;
  const bool native_;
  bool hide_bounds_ = false;
  Ranges ranges_;                                     // of the axes in scope
  Expr thread_ = 0;                                   // CUDA: the thread's number, the sum of the thread axes
  std::unordered_map<std::string_view, Type> types_;  // the names are the kernel's
  std::unordered_map<std::string_view, Memory> memory_;
  std::vector<const TmaDescriptor*> descriptors_;
  SharedLayout layout_;
  bool fences_reads_ = false, reads_other_blocks_ = false;
  bool produced_ = false;     // after a Produce: the block has more threads than those that execute the text
  std::set<Helper> helpers_;  // functions that the text calls
  std::set<std::pair<const mma::Atom*, DType>> mma_;
  std::set<std::pair<Op, int>> simd_;  // functions that the text calls, with their lanes
  std::set<int> simd_lanes_;           // lanes of stores
  std::set<int> simd_streams_;         // lanes of those past the caches
  std::set<std::pair<DType, int>> float16_;
  std::set<int> tf32_;  // lanes
  /// Of a program that is lowered block by block.
  struct BlockText {
    struct LocalArray {
      DType dtype = DType::i32;
      bool in_memory = false, constant = false;
    };
    bool used = false;
    std::map<std::string, std::string, std::less<>> literals;  // of constants, which need no variable
    std::set<std::string, std::less<>> scalars;                // variables; their integers are unsigned
    // Of addresses that are so many bytes behind the beginning of a buffer, the same as pointers of C: compilers see
    // which accesses are neighbours, and that buffers do not overlap.
    std::map<std::string, std::string, std::less<>> pointers;
    bool guarded = false;  // within a Branch of the innermost loop
    std::map<std::string, LocalArray, std::less<>> locals;
    std::string tables;                            // before the kernel
    std::map<std::string, std::string> functions;  // that the text calls, with their definitions
  };
  BlockText block_;
  KernelSource source_;
};

}  // namespace deplo::ir
