// The source of a kernel while its statements are emitted. Private to ir/emit.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/emit/called_functions.h"
#include "ir/emit/emit.h"
#include "ir/emit/names.h"
#include "ir/emit/shared_layout.h"
#include "ir/emit/source_text.h"

namespace deplo::ir::emitter {

/// The names of a program that is lowered block by block.
struct BlockNames {
  struct LocalArray {
    DType dtype = DType::i32;
    bool in_memory = false, constant = false;
  };
  bool used = false;
  std::map<std::string, std::string, std::less<>> literals;  // values of constants, which need no variable
  std::set<std::string, std::less<>> scalars;                // names of variables; their integers are unsigned
  // Addresses at an offset in bytes from the beginning of a buffer, as C pointers. With pointers, compilers see which
  // accesses are neighbours, and that buffers do not overlap.
  std::map<std::string, std::string, std::less<>> pointers;
  bool guarded = false;  // inside of a Branch, within the innermost loop
  std::map<std::string, LocalArray, std::less<>> locals;
  std::string tables;                            // definitions of tables, above the kernel
  std::map<std::string, std::string> functions;  // functions that the text calls, with their definitions
};

struct KernelText : SourceText {
  const Program& kernel;
  const Target& target;
  const Speller& spell;
  Names names;
  CalledFunctions functions;
  SharedLayout layout;
  std::vector<const TmaDescriptor*> descriptors;
  bool hide_bounds = false;  // hide the bounds of loops from PoCL
  bool fences_reads = false, reads_other_blocks = false;
  bool produced = false;  // after a Produce: fewer threads execute the text than the block has
  BlockNames block;
  KernelSource source;

  KernelText(const Program& k, const Target& t) : kernel(k), target(t), spell(speller(t)), names{spell} {}
};

}  // namespace deplo::ir::emitter
