#include "ir/interpret/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "ir/interpret/arithmetic/order.h"
#include "ir/interpret/executions.h"
#include "ir/interpret/lazy_inputs.h"
#include "ir/types/float16.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

constexpr std::uint64_t first_input = std::uint64_t{1} << 40;

/// Returns NaN for all elements, because none is known yet.
std::vector<double> unknown_elements(const Buffer& buffer) {
  return std::vector<double>(static_cast<std::size_t>(span(buffer)), std::numeric_limits<double>::quiet_NaN());
}

Memory unknown_outputs(const Program& program) {
  Memory memory;
  for (const Buffer& buffer : program.buffers)
    if (buffer.role == Role::output) memory[buffer.name] = unknown_elements(buffer);
  return memory;
}

/// Returns the element with this number of an input, as it is when loaded.
double element_of(const Buffer& buffer, std::uint64_t number) {
  const double element = Order::element(number);
  return is_float16(buffer.dtype) ? Order().stored(element, buffer.dtype) : element;
}

void add(LazyInputs& inputs, const Buffer& buffer, ComputeElements compute) {
  inputs.try_emplace(buffer.name, static_cast<std::size_t>(span(buffer)), std::move(compute));
}

/// Returns inputs whose float elements are all different. Inputs of other types have the given values.
LazyInputs distinct_inputs(const Program& program, const Memory& inputs) {
  LazyInputs lazy;
  std::uint64_t number = first_input + 1;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.role == Role::output) continue;
    if (!is_float(buffer.dtype)) {
      add(lazy, buffer, copy_of(inputs.at(buffer.name)));
      continue;
    }
    add(lazy, buffer, [&buffer, number](std::size_t first, std::span<double> elements) {
      for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = element_of(buffer, number + first + i);
    });
    number += static_cast<std::uint64_t>(span(buffer));
  }
  return lazy;
}

std::uint64_t mixed(std::uint64_t digest, double value) {
  const double canonical = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
  return Rng(digest ^ std::bit_cast<std::uint64_t>(canonical)).next();
}

/// Returns the first and the last element of the buffer.
std::vector<std::size_t> corners(const Buffer& buffer) { return {0, static_cast<std::size_t>(span(buffer) - 1)}; }

}  // namespace

std::string print(const Fingerprint& fingerprint) {
  return fingerprint.is_known() ? fmt::format("{:016x}", fingerprint.digest) : "unknown: " + fingerprint.unknown;
}

std::string order_dependence(const Program& schedule) {
  std::string found;
  for_each<Write>(schedule.body, [&](const Write& write) {
    if (!adds(write.mode)) return;
    const Buffer* buffer = schedule.find(write.buffer);
    if (buffer != nullptr && is_float(buffer->dtype))
      found = fmt::format("its blocks add to {} in any order", write.buffer);
  });
  return found;
}

namespace {

/// The elements that a digest covers: all elements, or only the first and last element of each output if the program
/// takes long.
enum class Part { all, corners };

/// Executes the schedule on these inputs. Returns why it cannot be executed, or "" if it was.
std::string execute(const Program& loop, const Program& schedule, LazyInputs inputs, Memory& memory, Part& part) {
  if (std::string why = order_dependence(schedule); !why.empty()) return why;
  part = executions(loop.body) <= max_executions ? Part::all : Part::corners;
  Limits limits;
  if (part == Part::corners) {
    const std::int64_t blocks = count_of(schedule.body, Bind::block);
    limits.clusters = {0};
    if (blocks > 1) limits.clusters.push_back(blocks - 1);
    if (2 * executions(schedule.body) / static_cast<double>(blocks) > max_executions)
      return "its blocks take too long to execute";
  }
  try {
    interpret(schedule, inputs, memory, Order(), limits);
  } catch (const Error& error) {
    return error.what();
  }
  if (part == Part::all) return "";
  for (const Buffer& buffer : loop.buffers) {
    if (buffer.role != Role::output) continue;
    for (const std::size_t i : corners(buffer))
      if (std::isnan(memory.find(buffer.name)->second[i]))
        return "its first and last block do not write the first and last element";
  }
  return "";
}

/// Returns the index that the loop writes to in the first dimension of an output, or nullopt if the output has no
/// dimensions.
std::optional<Expr> row_of(const Program& loop, const Buffer& output) {
  std::optional<Expr> row;
  for_each<Write>(loop.body, [&](const Write& write) {
    if (write.buffer == output.name && !write.index.empty()) row = write.index.front();
  });
  return row;
}

/// Returns the dimension of an input along which its rows correspond to the rows of an output, or nullopt if every row
/// reads the whole input.
std::optional<std::size_t> row_dimension(const Program& loop, const Buffer& input) {
  std::optional<std::size_t> dimension;
  for_each<Load>(loop.body, [&](const Load& load) {
    if (load.buffer != input.name) return;
    for (const Buffer& output : loop.buffers) {
      if (output.role != Role::output) continue;
      const std::optional<Expr> row = row_of(loop, output);
      for (std::size_t d = 0; row && row->kind() != Expr::Kind::constant && d < load.index.size(); ++d)
        if (load.index[d] == *row) dimension = d;
    }
  });
  return dimension;
}

/// Returns the dimensions of a buffer by falling stride if its elements lie in memory without gaps, else nullopt.
std::optional<std::vector<std::size_t>> dense_order(const Buffer& buffer) {
  std::vector<std::size_t> order(buffer.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t d) { return buffer.strides[d]; });
  std::int64_t elements = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    if (buffer.shape[*d] == 1) continue;
    if (buffer.strides[*d] != elements) return std::nullopt;
    elements *= buffer.shape[*d];
  }
  return order;
}

/// An input whose rows are all equal. Floats differ within a row; elements of other types repeat the first row of the
/// given elements.
class EqualRows {
 public:
  /// `first`: the number of the first element. `numbers`: the elements of an input that has no floats.
  EqualRows(const Buffer& buffer, std::optional<std::size_t> row, std::uint64_t first, std::vector<double> numbers)
      : buffer_(buffer), row_(row), first_(first), numbers_(std::move(numbers)) {}

  double at(const Shape& index) const {
    std::int64_t in_first_row = 0, number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (d == row_) continue;
      in_first_row += index[d] * buffer_.strides[d];
      number = number * buffer_.shape[d] + index[d];
    }
    return is_float(buffer_.dtype) ? element_of(buffer_, first_ + static_cast<std::uint64_t>(number))
                                   : numbers_[static_cast<std::size_t>(in_first_row)];
  }

  ComputeElements elements() const {
    const std::optional<std::vector<std::size_t>> order = dense_order(buffer_);
    if (!order) return copy_of(all());
    return [rows = *this, order = *order](std::size_t first, std::span<double> elements) {
      Shape index(order.size(), 0);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        auto rest = static_cast<std::int64_t>(first + i);
        for (const std::size_t d : order) {
          if (rows.buffer_.shape[d] == 1) continue;
          index[d] = rest / rows.buffer_.strides[d];
          rest %= rows.buffer_.strides[d];
        }
        elements[i] = rows.at(index);
      }
    };
  }

 private:
  std::vector<double> all() const {
    std::vector<double> elements = unknown_elements(buffer_);
    Shape index(buffer_.shape.size(), 0);
    for (std::int64_t i = 0; i < element_count(buffer_); ++i) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * buffer_.strides[d];
      elements[static_cast<std::size_t>(offset)] = at(index);
      for (std::size_t d = index.size(); d-- > 0 && ++index[d] == buffer_.shape[d];) index[d] = 0;
    }
    return elements;
  }

  Buffer buffer_;
  std::optional<std::size_t> row_;  // the dimension along which the rows are numbered
  std::uint64_t first_;
  std::vector<double> numbers_;
};

LazyInputs equal_rows(const Program& loop, const Memory& inputs) {
  LazyInputs lazy;
  std::uint64_t first = first_input;
  for (const Buffer& buffer : loop.buffers) {
    if (buffer.role == Role::output) continue;
    first += first_input;
    add(lazy, buffer,
        EqualRows(buffer, row_dimension(loop, buffer), first,
                  is_float(buffer.dtype) ? std::vector<double>() : inputs.at(buffer.name))
            .elements());
  }
  return lazy;
}

}  // namespace

Fingerprint fingerprint(const Program& loop, const Program& schedule, const Memory& inputs) {
  Memory memory = unknown_outputs(schedule);
  Part part = Part::all;
  if (std::string why = execute(loop, schedule, distinct_inputs(schedule, inputs), memory, part); !why.empty())
    return {0, std::move(why)};
  std::uint64_t digest = 0;
  for (const Buffer& buffer : loop.buffers) {
    if (buffer.role != Role::output) continue;
    const std::vector<double>& elements = memory.find(buffer.name)->second;
    if (part == Part::all)
      for (const double x : elements) digest = mixed(digest, x);
    for (const std::size_t i : part == Part::all ? std::vector<std::size_t>() : corners(buffer))
      digest = mixed(digest, elements[i]);
  }
  return {digest, ""};
}

Fingerprint row_fingerprint(const Program& loop, const Program& schedule, const Memory& inputs) {
  for (const Buffer& buffer : loop.buffers)
    if (buffer.role == Role::output && !row_of(loop, buffer))
      return {0, fmt::format("its output {} has no rows", buffer.name)};
  Memory memory = unknown_outputs(loop);
  Part part = Part::all;
  if (std::string why = execute(loop, schedule, equal_rows(loop, inputs), memory, part); !why.empty())
    return {0, std::move(why)};
  std::uint64_t digest = 0;
  for (const Buffer& buffer : loop.buffers) {
    if (buffer.role != Role::output) continue;
    const std::vector<double>& elements = memory.find(buffer.name)->second;
    const auto rows = static_cast<std::size_t>(buffer.shape.front()), row = elements.size() / rows;
    for (std::size_t i = row; part == Part::all && i < elements.size(); ++i)
      if (elements[i] != elements[i % row] && !(std::isnan(elements[i]) && std::isnan(elements[i % row])))
        return {0, fmt::format("it computes row {} of {} in another way than row 0", i / row, buffer.name)};
    digest = mixed(mixed(digest, elements.front()), elements.back());
  }
  return {digest, ""};
}

}  // namespace deplo::ir
