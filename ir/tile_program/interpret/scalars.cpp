#include "ir/tile_program/interpret/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "ir/tile_program/interpret/evaluators.h"

namespace deplo::ir::tile_program {

bool is_elementwise(const Form& form) {
  const exec::Evaluator* evaluator = exec::find_evaluator(form);
  return evaluator != nullptr && evaluator->elementwise && !form.operands.empty();
}

/// A program that consists of this operation. Its evaluator computes as many elements as the operands have.
struct ElementwiseOperation::State {
  Program program;
  Entry entry;
  Launch launch;
  Operation operation;
  exec::Block block;
  std::vector<Array> arrays;
  std::unique_ptr<exec::Machine> machine;
};

ElementwiseOperation::ElementwiseOperation(const Form& form, const std::vector<std::int64_t>& numbers,
                                           const std::vector<DType>& operands, DType result)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.program.where = "kernel";
  s.launch.grid = {1, 1, 1};
  s.operation.form = &form;
  for (const DType dtype : operands) {
    s.operation.operands.push_back(static_cast<ValueId>(s.entry.values.size()));
    s.operation.counts.push_back(1);
    s.entry.values.push_back({tile_type(dtype), ""});
  }
  s.operation.results = {static_cast<ValueId>(s.entry.values.size())};
  s.entry.values.push_back({tile_type(result), ""});
  s.operation.attributes.assign(numbers.begin(), numbers.end());
  s.block.values.resize(s.entry.values.size());
  s.machine = std::make_unique<exec::Machine>(s.program, s.entry, s.launch, s.arrays);
}

ElementwiseOperation::~ElementwiseOperation() = default;
ElementwiseOperation::ElementwiseOperation(ElementwiseOperation&&) noexcept = default;

Scalars ElementwiseOperation::run(const std::vector<Scalars>& operands, std::size_t count) {
  State& s = *state_;
  for (std::size_t i = 0; i < operands.size(); ++i)
    s.block.values[i] =
        is_float(s.entry.values[i].type->element) ? exec::of_reals(operands[i].reals) : exec::of_bits(operands[i].bits);
  exec::Evaluation evaluation(*s.machine, s.block, s.operation);
  exec::find_evaluator(*s.operation.form)->function(evaluation);
  const exec::TileValue& value = s.block.values.back();
  Scalars result;
  for (std::size_t i = 0; i < count; ++i)
    if (value.reals != nullptr)
      result.reals.push_back(value.real(i));
    else
      result.bits.push_back(value.bit(i));
  return result;
}

// Specification, "atomic_rmw_tko".
std::uint64_t updated(Rmw mode, std::uint64_t before, std::uint64_t argument, DType e) {
  const int w = width(e);
  const std::int64_t x = as_signed(before, w), y = as_signed(argument, w);
  switch (mode) {
    case Rmw::band:
      return before & argument;
    case Rmw::bor:
      return before | argument;
    case Rmw::bxor:
      return before ^ argument;
    case Rmw::add:
      return wrap(before + argument, w);
    case Rmw::addf:
      return encode_float(decode_float(before, e) + decode_float(argument, e), e);
    case Rmw::max:
      return x > y ? before : argument;
    case Rmw::min:
      return x < y ? before : argument;
    case Rmw::umax:
      return std::max(before, argument);
    case Rmw::umin:
      return std::min(before, argument);
    case Rmw::xchg:
      return argument;
  }
  return before;
}

std::string formatted(const std::string& format, double real, std::uint64_t bits, DType dtype, bool pointer) {
  const char conversion = format.back();
  const bool whole = pointer || is_integral(dtype);
  const int w = pointer ? 64 : width(dtype);
  const std::string flags = format.substr(1, format.find_first_of("hlqjzt" + std::string(1, conversion), 1) - 1);
  std::array<char, 128> text = {};
  if (std::string_view("fFeEgGaA").find(conversion) != std::string_view::npos) {
    const double number = whole ? static_cast<double>(as_signed(bits, w)) : real;
    std::snprintf(text.data(), text.size(), ("%" + flags + conversion).c_str(), number);
    return text.data();
  }
  if (conversion == 'c' && whole) return {static_cast<char>(bits)};
  if (std::string_view("diuxXo").find(conversion) != std::string_view::npos && whole) {
    const bool sign = (conversion == 'd' || conversion == 'i') && w > 1;
    const long long number = sign ? as_signed(bits, w) : static_cast<long long>(bits);
    std::snprintf(text.data(), text.size(), ("%" + flags + "ll" + conversion).c_str(), number);
    return text.data();
  }
  if (!whole) return fmt::format("{}", real);
  return pointer || dtype == DType::boolean ? fmt::format("{}", bits) : fmt::format("{}", as_signed(bits, w));
}

}  // namespace deplo::ir::tile_program
