#include "ir/interpret/interpret.h"

#include <algorithm>

#include "core/error.h"
#include "ir/interpret/lazy_inputs.h"
#include "ir/interpret/loop_lanes.h"
#include "ir/interpret/machine.h"
#include "ir/types/float16.h"

namespace deplo::ir {

namespace {

void check_size(const Buffer& buffer, std::size_t found) {
  if (static_cast<std::int64_t>(found) != span(buffer))
    throw Error("interpret: expected " + std::to_string(span(buffer)) + " elements in buffer " + buffer.name +
                ", found " + std::to_string(found));
}

void run(const Program& program, LazyInputs& lazy, Memory& memory, const Arithmetic& arithmetic, const Limits& limits,
         Outputs outputs, Memory* rounding) {
  // Bounds on rounding errors are only tracked for one lane, so the program is not widened then.
  const std::optional<Program> wide = rounding == nullptr ? exec::in_lanes(program) : std::nullopt;
  exec::Machine machine(wide ? *wide : program, nullptr, limits, arithmetic);
  machine.global.exact = outputs == Outputs::exact;
  if (rounding != nullptr) machine.roundings.start(machine.lanes);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    if (const auto input = lazy.find(buffer.name); input != lazy.end()) {
      check_size(buffer, input->second.size());
      machine.global.buffers[i].lazy = &input->second;
      continue;
    }
    const auto found = memory.find(buffer.name);
    if (found == memory.end()) throw Error("interpret: expected memory for buffer " + buffer.name + ", found none");
    check_size(buffer, found->second.size());
    machine.global.buffers[i].data = found->second;
    if (buffer.role != Role::output) {
      if (is_float16(buffer.dtype))
        for (double& element : found->second) element = arithmetic.stored(element, buffer.dtype);
      continue;
    }
    machine.global.buffers[i].writers.assign(found->second.size(), 0);
    if (rounding != nullptr) {
      (*rounding)[buffer.name].assign(found->second.size(), 0);
      machine.global.buffers[i].rounding = (*rounding)[buffer.name];
    }
  }
  for (const std::size_t i : zeroed_buffers(program)) std::ranges::fill(machine.global.buffers[i].data, 0.0);
  machine.run();
}

}  // namespace

void interpret(const Program& program, Memory& memory, const Limits& limits, Outputs outputs) {
  LazyInputs none;
  run(program, none, memory, reals(), limits, outputs, nullptr);
}

void interpret(const Program& program, Memory& memory, const Arithmetic& arithmetic, const Limits& limits) {
  LazyInputs none;
  run(program, none, memory, arithmetic, limits, Outputs::rounded, nullptr);
}

void interpret(const Program& program, LazyInputs& inputs, Memory& memory, const Arithmetic& arithmetic,
               const Limits& limits) {
  run(program, inputs, memory, arithmetic, limits, Outputs::rounded, nullptr);
}

std::string interpret_blocks(const Program& kernel, std::vector<tile_program::Array>& buffers, const Limits& limits) {
  CHECK(kernel.level == Level::kernel && buffers.size() == kernel.buffers.size());
  exec::Machine machine(kernel, nullptr, limits);
  machine.addressed.attach(buffers);
  machine.run();
  return std::move(machine.printed);
}

Memory interpret_rounding(const Program& loop, Memory& memory) {
  CHECK(loop.level == Level::loop);
  Memory rounding;
  LazyInputs none;
  run(loop, none, memory, reals(), {}, Outputs::exact, &rounding);
  return rounding;
}

}  // namespace deplo::ir
