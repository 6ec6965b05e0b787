// Proves that a schedule computes the same formulas as a program, for all inputs (docs/proofs.md).
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
    in_part,  // of a large program, some blocks were executed and some of their elements compared
    refuted,
    open,  // the program is too large, or the result is inconclusive
  } kind = Kind::open;
  std::string why;  // the reason if not `proved`, and what the proof ignores
};
/// Returns "proved", "proved in part: 4 of 1024 blocks, 64 elements", "refuted: …", "not proved: …".
std::string print(const ProofVerdict&);

/// The outputs of a program in exact arithmetic (Ring), for comparison with the outputs of its schedules. Two different
/// formulas of degree d agree in an element with a probability of at most d / 2^31. Thread-safe.
class Proof {
 public:
  /// `inputs`: elements of the inputs, as for interpret(). Integers, booleans, and floats that are infinite or whole
  /// numbers keep their values; all other floats are drawn at random from `seed`. Throws Error as interpret() does.
  Proof(const Program& meaning, Memory inputs, std::uint64_t seed);
  /// Inputs by name, computed when they are read; otherwise as in the first constructor.
  using Inputs = std::map<std::string, ComputeElements, std::less<>>;
  struct Options {
    Ring::Sigmoid sigmoid = Ring::Sigmoid::hashed;
    /// Upper bound on the number of different elements in a 16-bit input; each element then occurs many times. 0: all
    /// elements are different.
    std::uint64_t different_in_16_bits = 0;
  };
  Proof(const Program& meaning, Inputs inputs, std::uint64_t seed, const Options&);
  Proof(const Program& meaning, Inputs inputs, std::uint64_t seed);

  /// Returns "" if the schedule computes the same outputs; otherwise how many elements differ, and the first of them.
  /// Throws Error as interpret() does.
  std::string difference(const Program& schedule, const Limits& = {}) const;
  /// Compares outputs that were computed elsewhere in ring(). Returns the same text as above. The program must be small
  /// enough to be compared as a whole.
  std::string difference(Memory found) const;
  bool is_whole() const { return expected_.has_value(); }
  const Ring& ring() const { return ring_; }
  /// Returns all elements of an input.
  std::vector<double> input(const Buffer&) const;

  /// Returns the verdict on a schedule within seconds. A schedule for which interpret() throws is refuted.
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
  Inputs inputs_;                   // represented in exact arithmetic
  std::optional<Memory> expected_;  // only if the program is not too large
};

/// Returns what the schedule does that the proof ignores, as text: "rounding of factors to tf32". Returns "" if the
/// proof ignores only rounding to f32 and the order of operations.
std::string ignored(const Program& meaning, const Program& schedule);

}  // namespace deplo::ir
