// The state that the checks of all statements share while they walk a program. Private to ir/verify.
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
  const Stmt* statement = nullptr;  // the statement being checked, for messages
  Names names;
  IndexProver index;
  const std::string* vector_axis = nullptr;  // VECTOR axis of the tile, if accesses must respect it
  std::int64_t threads = 1;                  // threads per block
  std::int64_t cluster = 0;                  // blocks per cluster; 0: no cluster axis
  bool in_pairs = false;                     // inside a loop that executes two iterations at once
  bool produced = false;                     // the block has a Produce
  bool producing = false;                    // inside the Produce
  bool in_forever = false;                   // inside a Forever
  bool in_loop = false;                      // inside a Loop
  int divergent = 0;                         // number of enclosing bodies that some threads may skip
  std::vector<std::pair<const Name*, const Scope*>>
      accumulations;  // Loop IR: the accumulator of each Accum, and the Accum's body
};

// Each of these functions fails unless its statement holds.

/// The buffer is in scope and has the rank of the index. The index is in range, and so are the `lanes` - 1 elements
/// after it. The index may name values.
Name& check_access(Context&, const std::string& buffer, const std::vector<Expr>& index, int lanes);
/// The same for a buffer in shared memory, whose index names no values.
Name& check_shared_access(Context&, const std::string& buffer, const std::vector<Expr>& index, int lanes);
/// The name is an accumulator with this type and operation. In Loop and Tile IR, its first use defines it.
Name& check_accumulator(Context&, const std::string& name, const Type&, Op);
/// All threads of the block reach the statement.
void check_convergent(const Context&);
/// The statement stands directly in the Tile.
void check_in_tile(const Context&);
/// The same, and the Tile has a cluster axis.
void check_in_cluster(const Context&);
/// The expression is the number of a block of the cluster.
void check_block(Context&, const Expr& block);
/// The program allows the rounding of factors by this instruction.
void check_allowed(const Context&, const mma::Atom&);

}  // namespace deplo::ir::verifier
