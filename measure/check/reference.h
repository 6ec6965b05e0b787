// The reference: the expected outputs of a kernel.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "measure/check/elements.h"
#include "measure/check/inputs.h"
#include "measure/check/verdict.h"

namespace deplo::measure {

/// The expected outputs, in double: every element of a small problem, else some of the elements.
struct Reference {
  struct Element : Expected {  // `rounding` is 0 unless it was requested
    std::int64_t offset = 0;
  };
  struct Output {
    std::size_t buffer = 0;  // index into the program's buffers
    std::vector<Element> elements;
    double scale = 1;      // as in verdict.h
    bool partial = false;  // some elements are neither written nor compared
    bool sum = false;      // the only element is the expected sum of all elements
    /// For 64-bit integers that a kernel or a file gives: the bits of all elements, because a double cannot hold every
    /// value.
    std::vector<std::uint64_t> words = {};
  };
  std::vector<Output> outputs;
};

/// If a problem executes at most this many statements, its reference is complete (which takes at most a second).
/// Otherwise it has at least 64 elements.
inline constexpr double small_problem = 4e6;

/// Returns error_of() for a sum, relative to the output's scale. Sums of integers are compared exactly.
double error_of_sum(const Sum& found, const Reference::Output& expected, ir::DType);

/// Computes the reference. Throws Error if an output has no finite element. `rounding`: also compute how much rounding
/// may change each element, which takes about three times as long.
Reference make_reference(const ir::Program& loop, std::uint64_t seed, const InputFiles& files = {},
                         bool rounding = false);

/// Returns the element of buffer `buffer` (an index) at an offset, with its rounding. Returns nullopt if no steps along
/// the free axes lead to the offset, as in a scatter.
std::optional<Reference::Element> reference_at(const ir::Program& loop, std::uint64_t seed, const InputFiles& files,
                                               std::size_t buffer, std::int64_t offset);

/// Returns the points in the free axes at which a large problem is compared: at least 64, unless there are fewer. They
/// are the corners (shifted tails go wrong at the end of an axis), points near the first and the last element, points
/// in the first rows (which a prefix of the grid covers), and random points.
std::vector<std::vector<std::int64_t>> sample_points(std::span<const std::int64_t> extents, std::uint64_t seed);

/// Returns the number of statements that one run of a Loop IR program executes.
double statement_executions(const ir::Body&);

/// Returns the name of an element, such as "c[3, 17]", for its offset in elements.
std::string element_name(const ir::Buffer&, std::int64_t offset);

}  // namespace deplo::measure
