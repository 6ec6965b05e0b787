// The statements of Loop IR. Most of them are also statements of Tile and Kernel IR.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/axis.h"
#include "ir/expr.h"
#include "ir/op.h"
#include "ir/parts.h"
#include "ir/types/types.h"

namespace deplo::ir {

struct Stmt;  // stmt.h
using Body = std::vector<Stmt>;
using Arg = std::variant<std::string, double>;  // an SSA value or a constant

/// for v = start; v < min(axis.extent, end); v += step. `unroll`: 1 not at all, 0 fully, n by a factor of n.
/// A StridedLoop in the text is a Loop whose start is not 0 or whose step is not 1.
struct Loop {
  Axis axis;
  Expr start = 0;
  std::int64_t step = 1;
  int unroll = 1;
  Body body;
  std::string per = {};   // Tile IR: the REG axis over which the whole loop is replicated; "": replicate each statement
  std::string atom = {};  // Tile IR: the matrix instruction that executes the loop (mma.h); "": none
  /// Tile IR: the number of extra threads of the block that fill the slots of the loop's Stages ahead of time; 0: none.
  std::int64_t producers = 0;
  bool pairs = false;  // Tile IR: executes two iterations at once, by dot products of pairs (hardware/pairs.h)
  std::optional<Expr> end = {};  // Tile and Kernel IR: an upper bound of the axis, e.g. due to a causal mask
  static constexpr Levels levels = Levels::all;
  static void parts(auto& s, auto& see) {
    see(s.start);
    if (s.end) see(*s.end);
    if (!s.per.empty()) see(Use::axis, s.per);
    see(s.axis), see(s.body);
  }
  bool operator==(const Loop&) const = default;
};

struct If {
  Expr condition;
  Body then;
  static constexpr Levels levels = Levels::all;
  static void parts(auto& s, auto& see) { see(s.condition), see(s.then); }
  bool operator==(const If&) const = default;
};

inline constexpr const char* lane_variable = "lane";

/// dst = buffer[index…]. With lanes > 1, it loads that many consecutive elements of the last dimension (stride 1). In
/// Kernel IR the index into shared memory may use the variable `lane`: lane l then loads the element at lane = l.
struct Load {
  std::string dst;
  Type type;
  std::string buffer;
  std::vector<Expr> index;
  static constexpr Levels levels = Levels::all;
  static void parts(auto& s, auto& see) { see(Use::reads, s.buffer), see(s.index), see(Use::defines, s.dst); }
  bool operator==(const Load&) const = default;
};

/// dst = the value of an index expression, as an i32, an f32, or a boolean (whether the expression is not 0). With
/// lanes > 1, lane l has the value for `lane` = l.
struct Index {
  std::string dst;
  Type type;
  Expr value;
  static constexpr Levels levels = Levels::all;
  static void parts(auto& s, auto& see) { see(s.value), see(Use::defines, s.dst); }
  bool operator==(const Index&) const = default;
};
/// Scalars among the args of a vector operation are broadcast.
struct Assign {
  std::string dst;
  Type type;
  Op op = Op::copy;
  std::vector<Arg> args;
  static constexpr Levels levels = Levels::all;
  static void parts(auto& s, auto& see) { see(s.args), see(Use::defines, s.dst); }
  bool operator==(const Assign&) const = default;
};

/// dst = op(dst, value), or dst = fma(args[0], args[1], dst) in Kernel IR. In Loop and Tile IR the accumulator starts
/// at the neutral element in the innermost body that holds all its uses, outside of a scan loop whose body updates it
/// (docs/ir.md, accumulator scopes).
struct Accum {
  std::string dst;
  Type type;
  Op op = Op::add;
  std::vector<Arg> args;
  static constexpr Levels levels = Levels::all;
  static void parts(auto& s, auto& see) { see(s.args), see(Use::defines, s.dst); }
  bool operator==(const Accum&) const = default;
};

/// A step of the online softmax (Milakov and Gimelshein, arXiv 1805.02867; for weighted sums, Rabe and Staats, arXiv
/// 2112.05682). Over a loop `maximum` becomes the greatest score, and sums[i] the sum of weights[i] e^(score -
/// maximum):
///   m = max(maximum, score);  sums[i] = sums[i] e^(maximum - m) + weights[i] e^(score - m);  maximum = m
/// A score of -inf adds nothing to the sums, even if all scores are -inf. Two such results combine as
///   (m1, s1) + (m2, s2) = (m, s1 e^(m1 - m) + s2 e^(m2 - m)), m = max(m1, m2).
/// This is associative, so the scores may be taken in any order and in parts. All values are f32 scalars. The sums are
/// accumulators of `add`, and `maximum` is an accumulator of `maximum`.
struct SoftmaxSum {
  std::string maximum;
  std::vector<std::string> sums;  // at least one
  Arg score;
  std::vector<Arg> weights;  // one for each sum
  static constexpr Levels levels = Levels::loop_and_tile;
  static void parts(auto& s, auto& see) {
    see(s.score), see(s.weights), see(Use::defines, s.maximum), see(Use::defines, s.sums);
  }
  bool operator==(const SoftmaxSum&) const = default;
};

/// How a Write stores its value: by `=`; by `=` past the caches (`stream`), for elements that are not read soon; by
/// `+=`; or, in Kernel IR, by `+=` of all lanes in one access, whose first element is at a multiple of the lanes.
enum class WriteMode : std::uint8_t { assign, stream, add, add_together };
inline bool adds(WriteMode mode) { return mode == WriteMode::add || mode == WriteMode::add_together; }
/// buffer[index…] = value, or += value. With lanes > 1, lane l is the l-th of consecutive elements of the last
/// dimension. In Kernel IR for CPUs the index of an assignment to global memory may use the variable `lane`, as the
/// index of a Load may.
struct Write {
  std::string buffer;
  std::vector<Expr> index;
  Arg value;
  WriteMode mode = WriteMode::assign;
  int lanes = 1;  // consecutive elements of the last dimension
  static constexpr Levels levels = Levels::all;
  static void parts(auto& s, auto& see) { see(Use::writes, s.buffer), see(s.index), see(s.value); }
  bool operator==(const Write&) const = default;
};

using LoopStatements = Statements<Loop, If, Load, Index, Assign, Accum, SoftmaxSum, Write>;

}  // namespace deplo::ir
