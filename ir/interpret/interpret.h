// The meaning of a program, in double: the reference that every schedule and every device result is compared with.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/numbers.h"
#include "ir/program.h"

namespace deplo::ir {

/// Contents of each buffer in double, `span(buffer)` elements.
using Memory = std::map<std::string, std::vector<double>, std::less<>>;

struct Limits {
  std::int64_t shared_bytes = 0;  // of a block; 0: any
  std::int64_t blocks = 0;        // the first so many run, whole clusters; 0: all
  std::uint64_t seed = 0;         // of the order in which blocks of a cluster and their Produce run beside each other
};

/// Whether elements of 16-bit outputs are rounded when they are written, or only where the program reads them again.
enum class Outputs : std::uint8_t { rounded, exact };

/// Executes the program at any level, cluster by cluster with all threads of a block in lockstep, on `memory` in place.
/// Every buffer must be there with its size. Unwritten output elements keep their value (poison them to see it), but
/// those of zeroed_buffers() start at 0. Elements of 16-bit inputs are rounded first. Throws Error with the statement, block and thread on an index out of range, a
/// read of shared memory that nothing wrote, a race between threads with no Sync between, a read or an overwrite of an
/// asynchronous copy that was not waited for, a phase of an mbarrier that never completes, a Sync in divergent control
/// flow, a misaligned asynchronous copy, a use of another block's shared memory or barriers with no ClusterSync before
/// or behind it, or more shared memory than the limit.
void interpret(const Program&, Memory& memory, const Limits& limits = {}, Outputs outputs = Outputs::rounded);

/// The same of a Loop program, outputs exact; returns, of each element of each output, how far rounding in f32 may take
/// it from the value (rounding.cpp), before it is rounded to 16 bits.
Memory interpret_rounding(const Program& loop, Memory& memory);

/// One output element of a Loop program.
struct Point {
  std::string buffer;
  std::int64_t offset = 0;  // in elements, by the buffer's strides
  double value = 0;         // exact, also in an output of 16 bits
  double rounding = 0;      // as of interpret_rounding, where it was asked for
};

/// An element of an input, by its buffer and offset.
using ReadInput = std::function<double(const Buffer&, std::int64_t offset)>;
/// The output elements at one value per free axis: nothing else is computed, no other input element read.
/// `free_values` must name every free axis of the program.
std::vector<Point> evaluate_at(const Program& loop, const ReadInput& read,
                               const std::map<std::string, std::int64_t, std::less<>>& free_values);
std::vector<Point> evaluate_at(const Program& loop, const std::map<std::string, Numbers, std::less<>>& inputs,
                               const std::map<std::string, std::int64_t, std::less<>>& free_values,
                               bool rounding = false);
/// Every free axis of a Loop program with its extent, outermost first.
std::vector<std::pair<std::string, std::int64_t>> free_axes(const Program& loop);

}  // namespace deplo::ir
