// One form for all Loop programs that differ in nothing that a schedule or a result depends on, and the keys of stores.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "ir/program.h"

namespace deplo::ir {

/// The same computation with: free axes and dimensions of extent 1 dropped; independent statements in one order; the
/// arguments of commutative operations sorted; buffers, axes and values named and listed in order of appearance.
/// Two programs with equal canonical programs compute the same. (The converse holds but for statements that no
/// refinement of colours tells apart: then a kernel is tuned twice, never wrongly.)
struct Canonical {
  Program program;
  std::vector<std::size_t> buffers;  // buffers[i]: which buffer of the given program is the canonical one's i-th
};

/// `loop` is verified Loop IR.
Canonical canonical(Program loop);

/// The same with the operations of each cluster collapsed to one: what a schedule depends on. It computes something
/// else.
Canonical schedule_form(Program loop);

/// [i]: which buffer of the program that `mine` came of stands where that of `theirs` has its i-th. The canonical
/// programs are equal, or for one schedule key.
std::vector<std::size_t> corresponding_buffers(const Canonical& mine, const Canonical& theirs);

/// Digests (core/hash.h) of canonical texts. Dtypes, shapes and strides are in both.
struct StructuralKeys {
  std::string schedule;  // of schedule_form(): add and subtract are one operation, so are the comparisons
  std::string exact;     // of canonical(): kernels that compute the same
};
StructuralKeys structural_keys(const Program& loop);

}  // namespace deplo::ir
