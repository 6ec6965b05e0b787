// The statements of programs that are lowered block by block. A lane represents a float by its number and an integer of
// at most 32 bits by its signed number. It holds an i64 as bits, because a double cannot represent every i64 as a
// number.
#include <algorithm>
#include <bit>
#include <optional>

#include "core/error.h"
#include "ir/interpret/statements/statements.h"
#include "ir/tile_program/interpret/scalars.h"
#include "ir/types/float_format.h"
#include "ir/walk.h"

namespace deplo::ir::exec {
namespace {

namespace tp = tile_program;

std::uint64_t bits_of(double value, DType dtype) {
  if (dtype == DType::i64) return std::bit_cast<std::uint64_t>(value);
  if (is_float(dtype)) return encode_float(value, dtype);
  return wrap(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), width(dtype));
}

double of_bits(std::uint64_t bits, DType dtype) {
  if (dtype == DType::i64) return std::bit_cast<double>(bits);
  if (is_float(dtype)) return decode_float(bits, dtype);
  return dtype == DType::boolean ? static_cast<double>(bits & 1) : static_cast<double>(as_signed(bits, width(dtype)));
}

struct Value {
  std::size_t start = 0;  // start of the value's lanes
  DType dtype = DType::i32;
};

Value value_of(Compiler& c, const std::string& name) {
  const auto dtype = c.dtypes.find(name);
  return {c.operand(name, 1).value, dtype == c.dtypes.end() ? DType::f32 : dtype->second};
}

Value defined(Compiler& c, const std::string& name, DType dtype) {
  c.dtypes[name] = dtype;
  return {c.define(name, 1), dtype};
}

struct RunConstant {
  Value dst;
  double value;

  void operator()(Machine& m, Mask) const { std::fill_n(m.lanes.element(dst.start, 0), m.lanes.count, value); }
};

/// Computes only the active lanes, because the operation may be undefined for the operands of inactive lanes.
struct RunCompute {
  Value dst;
  std::vector<Value> args;
  std::shared_ptr<tp::ElementwiseOperation> operation;

  void operator()(Machine& m, Mask mask) const {
    std::vector<int> active;
    for (int l = 0; l < m.lanes.count; ++l)
      if (is_active(mask, l)) active.push_back(l);
    if (active.empty()) return;
    std::vector<tp::Scalars> operands;
    for (const Value& arg : args) {
      tp::Scalars& scalars = operands.emplace_back();
      const double* in = m.lanes.element(arg.start, 0);
      for (const int l : active)
        if (is_float(arg.dtype))
          scalars.reals.push_back(in[l]);
        else
          scalars.bits.push_back(bits_of(in[l], arg.dtype));
    }
    const tp::Scalars result = operation->run(operands, active.size());
    double* out = m.lanes.element(dst.start, 0);
    for (std::size_t i = 0; i < active.size(); ++i)
      out[active[i]] = is_float(dst.dtype) ? result.reals[i] : of_bits(result.bits[i], dst.dtype);
  }
};

std::int64_t checked_index(const Machine& m, std::int64_t i, std::int64_t count, const std::string& array, int lane) {
  if (i < 0 || i >= count)
    m.lanes.fail("index out of range: " + std::to_string(i) + " of " + array + ", which has " + std::to_string(count),
                 lane);
  return i;
}

/// The elements of an array that the lanes access.
struct Elements {
  LocalArray array;
  Index index;

  template <class F>
  void for_each(Machine& m, Mask mask, F&& f) {
    m.lanes.evaluate(index, m.index.data());
    std::vector<std::int64_t> at(m.index.begin(), m.index.end());
    for (int l = 0; l < m.lanes.count; ++l)
      if (is_active(mask, l)) f(l, at[static_cast<std::size_t>(l)]);
  }
};

struct RunGet {
  Elements from;
  Value dst;

  void operator()(Machine& m, Mask mask) {
    double* out = m.lanes.element(dst.start, 0);
    from.for_each(m, mask, [&](int l, std::int64_t i) {
      if (from.array.in_memory) {
        Shared& shared = m.shared.buffers[from.array.number];
        checked_index(m, i, static_cast<std::int64_t>(shared.cells.size()), shared.name, l);
        out[l] = m.shared.read(shared, shared.cells[static_cast<std::size_t>(i)], l);
        return;
      }
      const LocalElements& elements = m.locals.arrays[from.array.number];
      checked_index(m, i, elements.count, elements.name, l);
      const std::size_t lane = elements.constant ? 0 : static_cast<std::size_t>(l);
      const auto& element =
          elements.values[lane * static_cast<std::size_t>(elements.count) + static_cast<std::size_t>(i)];
      if (!element) m.lanes.fail("read of an element of " + elements.name + " that nothing wrote", l);
      out[l] = *element;
    });
  }
};

struct RunPut {
  Elements to;
  Value value;

  void operator()(Machine& m, Mask mask) {
    const double* in = m.lanes.element(value.start, 0);
    to.for_each(m, mask, [&](int l, std::int64_t i) {
      if (to.array.in_memory) {
        Shared& shared = m.shared.buffers[to.array.number];
        checked_index(m, i, static_cast<std::int64_t>(shared.cells.size()), shared.name, l);
        return m.shared.write(shared, shared.cells[static_cast<std::size_t>(i)], l, in[l]);
      }
      LocalElements& elements = m.locals.arrays[to.array.number];
      checked_index(m, i, elements.count, elements.name, l);
      elements.values[static_cast<std::size_t>(l * elements.count + i)] = in[l];
    });
  }
};

/// Starts the use of a Local's memory, which another Local may have used before. Throws Error if it was accessed since
/// the last barrier, because another thread may still be using it.
struct RunShared {
  std::size_t buffer;

  void operator()(Machine& m, Mask mask) const {
    m.converge(mask);
    const LocalMemory own = *m.shared.buffers[buffer].local;
    for (Shared& other : m.shared.buffers)
      if (other.local && other.local->overlaps(own)) take(m, other);
  }

  void take(Machine& m, Shared& other) const {
    for (Cell& cell : other.cells) {
      const bool touched = (cell.writer != Cell::nobody && cell.write_epoch == m.shared.epoch) ||
                           (cell.reader != Cell::nobody && cell.read_epoch == m.shared.epoch);
      if (touched && m.lanes.threads > 1)
        m.lanes.fail("the memory of " + other.name + " is used again without a barrier", 0);
      cell = {};
    }
  }
};

struct RunRegisters {
  std::size_t array;

  void operator()(Machine& m, Mask mask) const {
    LocalElements& elements = m.locals.arrays[array];
    for (int l = 0; l < m.lanes.count; ++l)
      if (is_active(mask, l)) std::fill_n(elements.values.begin() + l * elements.count, elements.count, std::nullopt);
  }
};

struct RunLoadAt {
  Value dst, address;

  void operator()(Machine& m, Mask mask) const {
    for (int l = 0; l < m.lanes.count; ++l)
      if (is_active(mask, l))
        m.lanes.element(dst.start, 0)[l] = of_bits(
            m.addressed.load(bits_of(m.lanes.element(address.start, 0)[l], DType::i64), dst.dtype, l), dst.dtype);
  }
};

struct RunStoreAt {
  Value address, value;

  void operator()(Machine& m, Mask mask) const {
    for (int l = 0; l < m.lanes.count; ++l)
      if (is_active(mask, l))
        m.addressed.store(bits_of(m.lanes.element(address.start, 0)[l], DType::i64), value.dtype,
                          bits_of(m.lanes.element(value.start, 0)[l], value.dtype), l);
  }
};

struct RunAtomic {
  Value dst, address;
  std::optional<tp::Rmw> mode;
  std::vector<Value> args;

  void operator()(Machine& m, Mask mask) const {
    for (int l = 0; l < m.lanes.count; ++l) {
      if (!is_active(mask, l)) continue;
      std::vector<std::uint64_t> given;
      for (const Value& arg : args) given.push_back(bits_of(m.lanes.element(arg.start, 0)[l], arg.dtype));
      const auto change = [&](std::uint64_t before) {
        if (mode) return tp::updated(*mode, before, given[0], dst.dtype);
        return before == given[0] ? given[1] : before;
      };
      const std::uint64_t place = bits_of(m.lanes.element(address.start, 0)[l], DType::i64);
      m.lanes.element(dst.start, 0)[l] = of_bits(m.addressed.update(place, dst.dtype, l, change), dst.dtype);
    }
  }
};

struct RunBranch {
  Value condition;
  bool otherwise;
  Code body;

  void operator()(Machine& m, Mask mask) {
    const double* in = m.lanes.element(condition.start, 0);
    std::vector<std::uint8_t> inside(static_cast<std::size_t>(m.lanes.count));
    std::int64_t active = 0;
    for (int l = 0; l < m.lanes.count; ++l)
      active += inside[static_cast<std::size_t>(l)] = is_active(mask, l) && (in[l] != 0) != otherwise ? 1 : 0;
    if (active > 0) m.execute(body, active == m.lanes.count ? nullptr : inside.data());
  }
};

struct RunForever {
  Code body;

  void operator()(Machine& m, Mask mask) {
    m.converge(mask);
    for (;;) {
      m.pass_turn();
      m.execute(body, mask);
      if (m.jump == Jump::To::end) return;
      const bool leaves = m.jump == Jump::To::after;
      m.jump.reset();
      if (leaves) return;
    }
  }
};

struct RunPrint {
  struct Piece {
    std::string text;
    std::optional<Value> value;
  };
  std::vector<Piece> pieces;

  void operator()(Machine& m, Mask mask) const {
    for (int l = 0; l < m.lanes.count; ++l)
      for (std::size_t i = 0; i < pieces.size() && is_active(mask, l); ++i) {
        const Piece& piece = pieces[i];
        const double number = piece.value ? m.lanes.element(piece.value->start, 0)[l] : 0;
        m.printed += !piece.value ? piece.text
                     : is_float(piece.value->dtype)
                         ? tp::formatted(piece.text, number, 0, piece.value->dtype)
                         : tp::formatted(piece.text, 0, bits_of(number, piece.value->dtype), piece.value->dtype);
      }
  }
};

/// True if a block may wait for a value that another block writes.
bool waits(const Body& body) {
  bool found = false;
  for_each(body, [&](const Stmt& stmt) {
    const auto* load = stmt.as<LoadAt>();
    found = found || stmt.as<Atomic>() != nullptr || (load != nullptr && load->strong);
  });
  return found;
}

}  // namespace

void compile(Compiler& c, const Constant& s) {
  const Value dst = defined(c, s.dst, s.dtype);
  c.emit(RunConstant{dst, of_bits(s.bits, s.dtype)});
}

void compile(Compiler& c, const Compute& s) {
  RunCompute run;
  std::vector<DType> types;
  for (const std::string& arg : s.args) {
    run.args.push_back(value_of(c, arg));
    types.push_back(run.args.back().dtype);
  }
  run.dst = defined(c, s.dst, s.dtype);
  run.operation = std::make_shared<tp::ElementwiseOperation>(*s.op, s.numbers, types, s.dtype);
  c.emit(std::move(run));
}

void compile(Compiler& c, const Local& s) {
  if (s.space == Space::thread) {
    const std::size_t number = c.declare_local(s.array, s.count, c.machine.lanes.count);
    c.emit(RunRegisters{number});
    return;
  }
  c.emit(RunShared{c.declare_local_memory(s)});
}

void compile(Compiler& c, const Table& s) {
  const std::size_t number = c.declare_local(s.array, static_cast<std::int64_t>(s.bits.size()), 1);
  LocalElements& elements = c.machine.locals.arrays[number];
  elements.constant = true;
  for (std::size_t i = 0; i < s.bits.size(); ++i) elements.values[i] = of_bits(s.bits[i], s.dtype);
}

void compile(Compiler& c, const Get& s) {
  const Elements from{c.local(s.array), c.index(s.index)};
  c.emit(RunGet{from, defined(c, s.dst, s.dtype)});
}

void compile(Compiler& c, const Put& s) { c.emit(RunPut{{c.local(s.array), c.index(s.index)}, value_of(c, s.value)}); }

void compile(Compiler& c, const Address& s) {
  const int buffer = c.global(s.buffer);
  if (buffer < 0) c.fail("nothing defines the buffer " + s.buffer);
  const Value dst = defined(c, s.dst, DType::i64);
  c.emit(RunConstant{dst, of_bits(AddressedMemory::address(static_cast<std::size_t>(buffer)), DType::i64)});
}

void compile(Compiler& c, const LoadAt& s) {
  const Value address = value_of(c, s.address);
  c.emit(RunLoadAt{defined(c, s.dst, s.dtype), address});
}

void compile(Compiler& c, const StoreAt& s) { c.emit(RunStoreAt{value_of(c, s.address), value_of(c, s.value)}); }

void compile(Compiler& c, const Atomic& s) {
  RunAtomic run{{}, value_of(c, s.address), s.mode, {}};
  for (const std::string& arg : s.args) run.args.push_back(value_of(c, arg));
  run.dst = defined(c, s.dst, s.dtype);
  c.emit(std::move(run));
}

void compile(Compiler& c, const Fence&) {
  c.machine.blocks_wait = c.machine.blocks_wait || waits(c.program.body);
  c.emit([](Machine& m, Mask mask) {
    m.converge(mask);
    m.pass_turn();
  });
}

void compile(Compiler& c, const Branch& s) {
  const Value condition = value_of(c, s.condition);
  c.emit(RunBranch{condition, s.otherwise, c.code_of(s.body)});
}

void compile(Compiler& c, const Forever& s) {
  c.machine.blocks_wait = c.machine.blocks_wait || waits(s.body);
  c.emit(RunForever{c.code_of(s.body)});
}

void compile(Compiler& c, const Jump& s) {
  c.emit([to = s.to](Machine& m, Mask mask) {
    m.converge(mask);
    m.jump = to;
  });
}

void compile(Compiler& c, const Print& s) {
  RunPrint run;
  for (const Print::Piece& piece : s.pieces) {
    run.pieces.push_back({piece.text, {}});
    if (!piece.value.empty()) run.pieces.back().value = value_of(c, piece.value);
  }
  c.emit(std::move(run));
}

}  // namespace deplo::ir::exec
