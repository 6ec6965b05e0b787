// The interpreter computes the meaning of a program in double. It is the reference for every schedule and every result
// from a device.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "ir/tile_program/interpret/interpret.h"
#include "ir/types/numbers.h"

namespace deplo::ir {

class Arithmetic;

/// The contents of each buffer in double: `span(buffer)` elements.
using Memory = std::map<std::string, std::vector<double>, std::less<>>;

struct Limits {
  std::int64_t shared_bytes = 0;            // maximum shared memory of a block; 0: no limit
  std::int64_t blocks = 0;                  // run only the first `blocks` blocks, in whole clusters; 0: all
  std::vector<std::int64_t> clusters = {};  // run only these clusters, by number; empty: all
  std::uint64_t seed = 0;  // determines how the blocks of a cluster and their producers (Produce) interleave
};

/// Whether elements of 16-bit outputs are rounded when they are written, or only when the program reads them again.
enum class Outputs : std::uint8_t { rounded, exact };

/// Executes a program of any level on `memory`, in place: cluster by cluster, with all threads of a block in lockstep.
/// `memory` must hold every buffer with its exact size. Elements of 16-bit inputs are rounded first. Output elements
/// that are not written keep their value (poison them to detect them), but those of zeroed_buffers() start at 0.
///
/// Throws Error with the statement, block and thread on: an index out of range; a read of shared memory that was never
/// written; a race between threads without a Sync; a read or an overwrite of an asynchronous copy that was not waited
/// for; a phase of an mbarrier that never completes; a Sync in divergent control flow; a misaligned asynchronous copy;
/// a use of another block's shared memory or barriers without a ClusterSync before and after it; more shared memory
/// than the limit.
void interpret(const Program&, Memory& memory, const Limits& limits = {}, Outputs outputs = Outputs::rounded);

/// Executes a program as above, with floats of another arithmetic, also in `memory`.
void interpret(const Program&, Memory& memory, const Arithmetic&, const Limits& limits = {});

/// Executes a Loop program as above, with exact outputs. Returns a bound on the f32 rounding error (rounding.cpp) of
/// each output element, before the element is rounded to 16 bits.
Memory interpret_rounding(const Program& loop, Memory& memory);

/// Executes a kernel that is lowered block by block (ir/block.h) on the bytes of its buffers, in place. Returns what
/// its blocks print. Throws Error as interpret() does, and also for undefined behaviour of an operation, for an access
/// outside of an array, for a race between threads of a block in global memory, and if blocks wait forever.
std::string interpret_blocks(const Program& kernel, std::vector<tile_program::Array>& buffers, const Limits& = {});

/// One output element of a Loop program.
struct Point {
  std::string buffer;
  std::int64_t offset = 0;  // in elements, by the buffer's strides
  double value = 0;         // exact, even if the output has 16 bits
  double rounding = 0;      // as in interpret_rounding, if requested
};

/// Returns an element of an input, by its buffer and offset.
using ReadInput = std::function<double(const Buffer&, std::int64_t offset)>;
/// Computes the output elements at one value of each free axis, and nothing else; no other input elements are read.
/// `free_values` must have a value for every free axis of the program, and for the axis of each scan. A scan also
/// computes the elements before that value.
std::vector<Point> evaluate_at(const Program& loop, const ReadInput& read,
                               const std::map<std::string, std::int64_t, std::less<>>& free_values);
std::vector<Point> evaluate_at(const Program& loop, const std::map<std::string, Numbers, std::less<>>& inputs,
                               const std::map<std::string, std::int64_t, std::less<>>& free_values,
                               bool rounding = false);
/// Like the first overload, with floats of another arithmetic, which `read` must return.
std::vector<Point> evaluate_at(const Program& loop, const ReadInput& read,
                               const std::map<std::string, std::int64_t, std::less<>>& free_values, const Arithmetic&);
/// Returns every free axis and scan axis of a Loop program with its extent, outermost first.
std::vector<std::pair<std::string, std::int64_t>> free_axes(const Program& loop);

/// Finds an output element by its offset: searches the values of the free axes at which the element is computed.
class ElementFinder {
 public:
  using FreeValues = std::map<std::string, std::int64_t, std::less<>>;
  /// Computes the elements at these values of the axes, as evaluate_at() does.
  using Evaluate = std::function<std::vector<Point>(const FreeValues&)>;
  ElementFinder(const Program& loop, std::string buffer, Evaluate evaluate);
  /// Returns the element at the offset, or nullopt if no steps along the free axes lead to it, as in a scatter.
  std::optional<Point> find(std::int64_t offset) const;

 private:
  std::optional<Point> at(const FreeValues&) const;

  struct Step {
    std::string axis;
    std::int64_t extent = 0, offset = 0;
  };
  std::string buffer_;
  Evaluate evaluate_;
  std::optional<std::int64_t> origin_;  // the element's offset if all axes are 0
  FreeValues zero_;
  std::vector<Step> steps_;  // sorted by falling offset
};

}  // namespace deplo::ir
