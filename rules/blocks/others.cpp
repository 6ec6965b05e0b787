// Lowers blocks, globals, tokens, assertions and printing.
#include <fmt/format.h>

#include "ir/tile_program/print_format.h"
#include "ir/types/types.h"
#include "rules/blocks/control.h"
#include "rules/blocks/lowering.h"
#include "rules/blocks/rows.h"
#include "rules/blocks/shapes.h"

namespace deplo::rules::blocks {
namespace {

// --- Printing --------------------------------------------------------------------------------------------------------

/// A pointer is printed as an unsigned number.
ir::Print::Piece printed(const Lowering& l, ValueId id, const std::string& conversion, Name value) {
  return {l.type(id).pointer && conversion == "%" ? "%u" : conversion, std::move(value)};
}

void print_text(Lowering& l, std::string text) { l.add(ir::Print{{{std::move(text)}}}); }

/// Prints a tile as nested lists.
void print_tile(Lowering& l, ValueId id, const std::string& conversion) {
  const Type& t = l.type(id);
  const tp::Extents strides = ir::row_major_strides(t.shape);
  const std::function<void(std::size_t, const Expr&)> nested = [&](std::size_t d, const Expr& i) {
    if (d == t.shape.size()) {
      const Name value = l.element(id, {l.simplified(i), std::nullopt});
      return l.add(ir::Print{{printed(l, id, conversion, value)}});
    }
    print_text(l, "[");
    l.loop(t.shape[d], false, [&](const Expr& n) {
      l.guarded(ir::less(0, n), [&] { print_text(l, ", "); });
      nested(d + 1, i + n * strides[d]);
    });
    print_text(l, "]");
  };
  nested(0, 0);
}

/// Prints in the first thread. Text and numbers are printed in one call, so that no output of another block comes
/// between them.
void print_values(Lowering& l, const Operation& op) {
  if (!l.schedule.prints) return;
  l.order(op);
  l.by_first_thread([&] {
    ir::Print line;
    const auto flush = [&] {
      if (!line.pieces.empty()) l.add(std::exchange(line, {}));
    };
    for (const tp::FormatPiece& piece : tp::split_format(std::get<std::string>(op.attribute("str")))) {
      if (piece.value < 0) {
        line.pieces.push_back({piece.text});
        continue;
      }
      const ValueId id = op.operands[static_cast<std::size_t>(piece.value)];
      if (l.type(id).shape.empty()) {
        line.pieces.push_back(printed(l, id, piece.text, l.scalar(id)));
      } else {
        flush();
        print_tile(l, id, piece.text);
      }
    }
    flush();
  });
}

// --- The rest --------------------------------------------------------------------------------------------------------

void block_id(Lowering& l, const Operation& op) {
  for (std::size_t d = 0; d < 3; ++d) l.bind(op.results[d], l.index(l.block_id.at(d)));
}

void block_count(Lowering& l, const Operation& op) {
  for (std::size_t d = 0; d < 3; ++d) l.bind(op.results[d], l.whole(DType::i32, l.launch.grid.at(d)));
}

void global(Lowering& l, const Operation& op) {
  l.bind(op.results[0], l.buffers.global_address(l, std::get<std::string>(op.attributes[0])));
}

void allocate(Lowering& l, const Operation& op) {
  const Expr block = (l.block_id[2] * l.launch.grid[1] + l.block_id[1]) * l.launch.grid[0] + l.block_id[0];
  l.bind(op.results[0], l.buffers.alloca_address(l, op.results[0], block));
}

/// Stores the number of the first assertion that fails.
void check_assertion(Lowering& l, const Operation& op) {
  l.order(op);
  const std::int64_t number =
      l.buffers.add_assertion(fmt::format("{}: assert: expected a true condition, found a false one: {}",
                                          tp::place(l.program, op.location), std::get<std::string>(op.attributes[0])));
  for_elements(l, op.operands[0], [&](const At& at) {
    l.branch(l.element(op.operands[0], at), true, [&] {
      const Name cell = KernelBuffers::assertion_address(l), none = l.whole(DType::i32, 0),
                 own = l.whole(DType::i32, number);
      l.add(ir::Atomic{l.fresh("e"), DType::i32, std::nullopt, cell, {none, own}, tp::Scope::device});
    });
  });
}

/// Tokens need no code. Operations are executed in program order, and threads wait for each other if memory accesses
/// require it. A launch begins after the previous launch has ended, so there is no grid to wait for.
void token(Lowering&, const Operation&) {}

}  // namespace

std::vector<Row> print_rows() { return {{.name = "print_tko", .statement = print_values}}; }

std::vector<Row> block_rows() {
  return {{.name = "alloca", .statement = allocate},
          {.name = "assert", .statement = check_assertion},
          {.name = "gdc_launch_dependents_tko", .statement = token},
          {.name = "gdc_wait_tko", .statement = token},
          {.name = "get_global", .statement = global},
          {.name = "get_num_tile_blocks", .statement = block_count},
          {.name = "get_tile_block_id", .statement = block_id},
          {.name = "join_tokens", .statement = token},
          {.name = "make_token", .statement = token},
          {.name = "memory_fence_alias_tko", .statement = token}};
}

}  // namespace deplo::rules::blocks
