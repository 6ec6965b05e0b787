// The canonical form of Loop programs, and the keys of stores. Programs that differ only in details that affect neither
// schedules nor results have the same canonical form.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "ir/program.h"

namespace deplo::ir {

/// The canonical form of a program. It is the same computation, with free axes and dimensions of extent 1 dropped;
/// independent statements in one fixed order; the arguments of commutative operations sorted; and buffers, axes and
/// values named and listed in order of appearance. Programs with equal canonical programs compute the same. The
/// converse holds except for statements that colour refinement cannot distinguish: then a kernel may be tuned twice,
/// but never wrongly.
struct Canonical {
  Program program;
  std::vector<std::size_t> buffers;  // buffers[i]: index in the given program of buffer i of the canonical program
};

/// Returns the canonical form of verified Loop IR.
Canonical canonical(Program loop);

/// Returns the part of a program that a schedule depends on: the canonical form with add and subtract collapsed to one
/// operation, and the comparisons to another. The result no longer computes what the program computes.
Canonical schedule_form(Program loop);

/// Returns the program with buffers, axes and values named and listed in order of appearance. Unlike in the canonical
/// form, nothing is dropped and no statement is moved. So the results for programs that differ only in sizes differ
/// only in numbers.
Canonical renamed(Program loop);

/// Matches the buffers of two original programs: element i of the result is the number of the buffer of `mine`'s
/// original that corresponds to buffer i of `theirs`'s original. The two programs must be equal, have the same schedule
/// key, or differ only in numbers.
std::vector<std::size_t> corresponding_buffers(const Canonical& mine, const Canonical& theirs);

/// Digests (core/hash.h) of canonical texts. Both include dtypes, shapes and strides.
struct StructuralKeys {
  std::string schedule;  // digest of schedule_form(): equal for kernels that can share schedules
  std::string exact;     // digest of canonical(): equal for kernels that compute the same
};
StructuralKeys structural_keys(const Program& loop);

}  // namespace deplo::ir
