// The statements of Loop IR, which Tile and Kernel IR have too.
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
#include "ir/types.h"

namespace deplo::ir {

struct Stmt;  // stmt.h
using Body = std::vector<Stmt>;
using Arg = std::variant<std::string, double>;  // an SSA value or a constant

/// for v = start; v < min(axis.extent, end); v += step. `unroll`: 1 none, 0 full, n by n.
/// A StridedLoop in the text is a Loop whose start is not 0 or whose step is not 1.
struct Loop {
  Axis axis;
  Expr start = 0;
  std::int64_t step = 1;
  int unroll = 1;
  Body body;
  std::string per = {};   // Tile IR: a REG axis that the whole loop is replicated over; "": its statements are
  std::string atom = {};  // Tile IR: the matrix instruction that executes it (mma.h); "": none
  /// Tile IR: so many threads beside the block's fill the slots of its Stages, ahead of the others; 0: none.
  std::int64_t producers = 0;
  bool pairs = false;            // Tile IR: two turns at once, by dot products of pairs (hardware/pairs.h)
  std::optional<Expr> end = {};  // Tile and Kernel IR: where it ends at the latest, as a causal mask has it
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

/// dst = buffer[index…]; with lanes > 1, that many consecutive elements of the last dimension (stride 1), or in Kernel
/// IR, of shared memory, those where the variable `lane` of the index is 0, 1, …
struct Load {
  std::string dst;
  Type type;
  std::string buffer;
  std::vector<Expr> index;
  static constexpr Levels levels = Levels::all;
  static void parts(auto& s, auto& see) { see(Use::reads, s.buffer), see(s.index), see(Use::defines, s.dst); }
  bool operator==(const Load&) const = default;
};

/// dst = the value of an index expression: an i32, a boolean for a condition (another expression: whether it is not 0),
/// or converted to f32. With lanes > 1, lane l has the value where the variable `lane` is l.
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

/// dst = op(dst, value), or dst = fma(args[0], args[1], dst) in Kernel IR. See accumulator scopes in docs/ir.md: above
/// Kernel IR the accumulator starts at the neutral element in the innermost body that holds all its uses.
struct Accum {
  std::string dst;
  Type type;
  Op op = Op::add;
  std::vector<Arg> args;
  static constexpr Levels levels = Levels::all;
  static void parts(auto& s, auto& see) { see(s.args), see(Use::defines, s.dst); }
  bool operator==(const Accum&) const = default;
};

/// A step of the online softmax (Milakov and Gimelshein, arXiv 1805.02867; of sums with weights, Rabe and Staats, arXiv
/// 2112.05682). Over a loop `maximum` becomes the greatest score, and sums[i] the sum of weights[i] e^(score - maximum):
///   m = max(maximum, score);  sums[i] = sums[i] e^(maximum - m) + weights[i] e^(score - m);  maximum = m
/// A score of -inf adds nothing to the sums, also where there is no other. Two such results combine as
///   (m1, s1) + (m2, s2) = (m, s1 e^(m1 - m) + s2 e^(m2 - m)), m = max(m1, m2),
/// which is associative: the scores may be taken in any order and in parts. All are f32 scalars; the sums are
/// accumulators by add, and `maximum` one by maximum.
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

/// = += and, in Kernel IR, += of all lanes at once: the first element is at a multiple of their number.
enum class WriteMode : std::uint8_t { assign, add, add_together };
inline bool adds(WriteMode mode) { return mode != WriteMode::assign; }
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
