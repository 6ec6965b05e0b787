// Proves that a schedule computes the formulas of a program, for all inputs (docs/proofs.md).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/interpret/arithmetic/ring.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/lazy_inputs.h"

namespace deplo::ir {

struct ProofVerdict {
  enum class Kind : std::uint8_t {
    proved,
    in_part,  // of a large program: some blocks were executed, and some of their elements compared
    refuted,
    open,  // too large, or what decides is not known
  } kind = Kind::open;
  std::string why;  // of all but `proved`, and what the proof ignores
};
/// "proved", "proved in part: 4 of 1024 blocks, 64 elements", "refuted: …", "not proved: …".
std::string print(const ProofVerdict&);

/// The outputs of a program in exact arithmetic (Ring), with which those of its schedules are compared. Two different
/// formulas of degree d agree in an element with a probability of at most d / 2^31. Thread-safe.
class Proof {
 public:
  /// `inputs`: elements of the inputs, as for interpret(). Integers, truth values, and floats that are infinite or
  /// whole numbers stay what they are; `seed` draws the other floats. Throws Error as interpret() does.
  Proof(const Program& meaning, Memory inputs, std::uint64_t seed);
  /// The same with inputs that are computed when they are read, by their names.
  using Inputs = std::map<std::string, ComputeElements, std::less<>>;
  struct Options {
    Ring::Sigmoid sigmoid = Ring::Sigmoid::hashed;
    /// An input of 16 bits has at most so many different elements, each of them many times. 0: all are different.
    std::uint64_t different_in_16_bits = 0;
  };
  Proof(const Program& meaning, Inputs inputs, std::uint64_t seed, const Options&);
  Proof(const Program& meaning, Inputs inputs, std::uint64_t seed);

  /// "" if the program leaves the same in all outputs; otherwise how many elements differ, and the first of them.
  /// Throws Error as interpret() does.
  std::string difference(const Program& schedule, const Limits& = {}) const;
  /// The same of outputs that something else has computed in ring(). The program must not be too large to be compared
  /// as a whole.
  std::string difference(Memory found) const;
  bool is_whole() const { return expected_.has_value(); }
  const Ring& ring() const { return ring_; }
  /// All elements of an input.
  std::vector<double> input(const Buffer&) const;

  /// The same within seconds. What interpret() throws refutes a schedule.
  ProofVerdict verdict(const Program& schedule, const Limits& = {}) const;

 private:
  LazyInputs lazy_inputs() const;
  Memory canonical(Memory) const;
  Memory outputs(const Program&, LazyInputs&, const Limits&) const;
  ProofVerdict verdict_in_part(const Program& schedule, Limits) const;
  std::optional<std::string> compare_some(const Memory& found, LazyInputs&, bool adds, std::size_t& compared) const;

  Program meaning_;
  std::uint64_t seed_;
  Ring ring_;
  Inputs inputs_;                   // in exact arithmetic
  std::optional<Memory> expected_;  // of a program that is not too large
};

/// What the schedule does that the proof ignores, for people: "rounding of factors to tf32"; "" for nothing but
/// rounding to f32 and the order of operations.
std::string ignored(const Program& meaning, const Program& schedule);

}  // namespace deplo::ir
