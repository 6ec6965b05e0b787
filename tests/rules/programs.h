// Loop IR programs to lower, and how two programs are compared: shared by the tests of the rules.
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
/// Every configs/kernels/*.loop and tests/kernels/*.loop (what graphs give), then reductions over rows and columns,
/// batches, strides, several accumulators.
const std::vector<Kernel>& kernels();
const Kernel& kernel(std::string_view name);
/// configs/kernels/matmul.loop of these sizes, with all buffers of the type.
ir::Program matmul(std::int64_t m, std::int64_t n, std::int64_t k, ir::DType = ir::DType::f32);

std::string read_text(const std::string& path);

/// Inputs uniform in (-1, 1), of i32 whole in -4..35, where one chooses what is written none twice, of bool 0 or 1;
/// outputs NaN, so that an element nobody writes is seen.
ir::Memory random_memory(const ir::Program&, std::uint64_t seed);
/// What `program` leaves in `memory`.
ir::Memory result(const ir::Program&, ir::Memory memory, const ir::Limits& = {});
/// "" where all outputs agree to 1e-9 of the output's scale, or of 16 bits to the neighbour, and the gaps between rows
/// are untouched; else where not.
std::string difference(const ir::Program&, const ir::Memory& expected, const ir::Memory& found);

/// What is wrong with a program that shall leave what `loop` does, on inputs of the seed and in its order of producers;
/// "": nothing.
std::string finding(const ir::Program& loop, const ir::Program& program, std::uint64_t seed);

/// The untuned compiler's lowering but for one knob, of which `value` must be an option.
Lowering heuristic_with(const ir::Program& loop, const Target&, std::string_view knob, const Value&);

/// Applies `edit` to every body, the outermost first: to plant a fault.
void edit_bodies(ir::Body&, const std::function<void(ir::Body&)>& edit);

/// The program with every statement of this kind edited.
template <class S, class Edit>
ir::Program edited(ir::Program program, Edit edit) {
  ir::for_each(program.body, [&](ir::Stmt& stmt) {
    if (auto* s = stmt.as<S>()) edit(*s);
  });
  return program;
}

/// tests/kernels/down_rounded.loop with operands of this type; f32: rounded to tf32.
ir::Program down_rounded(ir::DType, const ir::Symbols&);
/// Do its threads make elements of fragments? And the same with those of each in another order, a fault.
bool has_fragments(const ir::Program& kernel);
/// Plants a fault: returns the kernel with the elements of each such fragment in reverse order.
ir::Program with_fragments_reversed(const ir::Program& kernel);

/// Statements that the interpreter executes, lanes counted one by one.
double lane_steps(const ir::Program&);

}  // namespace deplo::rules
