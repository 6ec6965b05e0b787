// What the checks of all statements share while a program is walked. Private to ir/verify.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/hardware/mma.h"
#include "ir/verify/index_prover.h"
#include "ir/verify/names.h"

namespace deplo::ir::verifier {

struct Context {
  explicit Context(const Program& p) : program(p), names(p.level), index(names) {}
  Context(const Context&) = delete;  // `index` refers to `names`
  Context& operator=(const Context&) = delete;

  const Program& program;
  const Stmt* statement = nullptr;  // that is checked, for messages
  Names names;
  IndexProver index;
  const std::string* vector_axis = nullptr;  // of the tile
  std::int64_t threads = 1;                  // of a block
  std::int64_t cluster = 0;                  // its blocks; 0: no cluster axis
  bool in_pairs = false;                     // inside a loop that takes two turns at once
  bool produced = false;                     // the block has a Produce
  bool producing = false;                    // the statement stands in it
  int divergent = 0;                         // bodies around that some of them may skip
  std::vector<std::pair<const Name*, const Scope*>>
      accumulations;  // Loop IR: of each Accum, by which body it stands in
};

/// A buffer that is in scope, and an index of its rank that is in range with `lanes` - 1 elements more.
Name& check_access(Context&, const std::string& buffer, const std::vector<Expr>& index, int lanes);
/// The same of shared memory.
Name& check_shared_access(Context&, const std::string& buffer, const std::vector<Expr>& index, int lanes);
/// An accumulator of this type and operation; above Kernel IR the first use defines it.
Name& check_accumulator(Context&, const std::string& name, const Type&, Op);
/// All threads of the block reach the statement.
void check_convergent(const Context&);
/// It stands directly in the Tile.
void check_in_tile(const Context&);
/// The same, of a cluster of blocks.
void check_in_cluster(const Context&);
/// A block of the cluster.
void check_block(Context&, const Expr& block);
/// The program allows what the instruction does with its factors.
void check_allowed(const Context&, const mma::Atom&);

}  // namespace deplo::ir::verifier
