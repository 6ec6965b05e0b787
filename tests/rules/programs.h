// Loop IR programs to lower, and functions that compare two programs. The tests of the rules share them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/walk.h"
#include "rules/lower.h"

namespace deplo::rules {

struct Kernel {
  std::string name, text;
  std::vector<std::string> symbols;
};
/// Returns the kernels of configs/kernels/*.loop and tests/kernels/*.loop (which come from graphs), then
/// inline_kernels(): reductions over rows and columns, batches, strides, several accumulators, and others.
const std::vector<Kernel>& kernels();
const Kernel& kernel(std::string_view name);
/// Returns configs/kernels/matmul.loop with these sizes, and with all buffers of the given type.
ir::Program matmul(std::int64_t m, std::int64_t n, std::int64_t k, ir::DType = ir::DType::f32);

std::string read_text(const std::string& path);

/// Returns random inputs: f32 uniform in (-1, 1), i32 in -4..35, bool 0 or 1. If loaded indices choose the elements
/// that are written, the elements of an i32 input are distinct. Outputs are NaN, to reveal elements that are not
/// written.
ir::Memory random_memory(const ir::Program&, std::uint64_t seed);
/// Returns the memory after `program` has run on it.
ir::Memory result(const ir::Program&, ir::Memory memory, const ir::Limits& = {});
/// Returns "" if all outputs agree to 1e-9 of the output's largest element, or in 16 bits to the neighbouring number,
/// and the gaps between rows are untouched. Otherwise returns the first difference.
std::string difference(const ir::Program&, const ir::Memory& expected, const ir::Memory& found);

/// Returns what is wrong with a program that should compute what `loop` computes; "" if nothing is. The seed determines
/// the inputs and the order of the producers.
std::string finding(const ir::Program& loop, const ir::Program& program, std::uint64_t seed);

/// Returns the untuned compiler's lowering, but with `value` for one knob. Throws Error if `value` is not among its
/// options.
Lowering heuristic_with(const ir::Program& loop, const Target&, std::string_view knob, const Value&);

/// Applies `edit` to every body, the outermost first. Tests use it to plant faults.
void edit_bodies(ir::Body&, const std::function<void(ir::Body&)>& edit);

/// Returns the program with every statement of type S edited.
template <class S, class Edit>
ir::Program edited(ir::Program program, Edit edit) {
  ir::for_each(program.body, [&](ir::Stmt& stmt) {
    if (auto* s = stmt.as<S>()) edit(*s);
  });
  return program;
}

/// Returns tests/kernels/down_rounded.loop with operands of the given type. Operands of f32 are rounded to tf32.
ir::Program down_rounded(ir::DType, const ir::Symbols&);
/// Returns whether the kernel's threads make fragments from elements.
bool has_fragments(const ir::Program& kernel);
/// Plants a fault: returns the kernel with the elements of each such fragment in reverse order.
ir::Program with_fragments_reversed(const ir::Program& kernel);

/// Returns the number of statements that the interpreter executes, with lanes counted one by one.
double lane_steps(const ir::Program&);

}  // namespace deplo::rules
