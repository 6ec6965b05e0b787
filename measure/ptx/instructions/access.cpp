// Loads, stores, atomic operations and reductions.
#include <array>
#include <cstring>

#include "measure/ptx/instructions/lanes.h"
#include "measure/ptx/instructions/table.h"
#include "measure/ptx/warp/warp_memory.h"

namespace deplo::measure::ptx {
namespace {

Space space_of(const Binder& b) {
  if (b.has("global") || b.has("const")) return Space::global;
  if (b.has("shared") || b.has("shared::cta")) return Space::shared;
  if (b.has("shared::cluster")) return Space::shared_cluster;
  if (b.has("local")) return Space::local;
  if (b.has("param")) return Space::param;
  return Space::generic;
}

// PTX ISA, "Operation Types": atom, red and volatile accesses are strong.
MemoryOrder order_of(const Binder& b) {
  const bool is_atomic = b.word(0) == "atom" || b.word(0) == "red", both = b.has("acq_rel");
  MemoryOrder order{.strong = is_atomic || b.has("volatile") || b.has("relaxed"),
                    .acquires = both || b.has("acquire"),
                    .releases = both || b.has("release"),
                    .non_coherent = b.has("nc")};
  order.strong |= order.acquires || order.releases;
  if (b.has("cta")) order.scope = Scope::block;
  if (b.has("cluster")) order.scope = Scope::cluster;
  return order;
}

/// `Memory`: the type of an element. `Register`: the type of a register, of at least 16 bits; a narrower signed element
/// is sign-extended.
template <class Memory, class Register>
Flow run_load(Warp& w, const Instruction& i, Lanes active) {
  const std::size_t count = i.detail->d.size(), used = count * sizeof(Memory);
  for_each_lane(active, [&](std::size_t l) {
    const std::byte* from = memory_at(w, i.space, w.address(i, l), i.size, l,
                                      {Use::read, i.order, nullptr, static_cast<std::uint32_t>(used)});
    std::array<Memory, 8> values;
    std::memcpy(values.data(), from, used);
    for (std::size_t k = 0; k < count; ++k)
      w.lanes<Register>(i.detail->d[k])[l] =
          static_cast<Register>(static_cast<std::make_signed_t<Register>>(values[k]));
  });
  return Flow::next;
}

// The destination may be the base register of the address, so it is written last.
template <class Memory>
Flow run_load_one(Warp& w, const Instruction& i, Lanes active) {
  PerLane<Memory> r = w.lanes<Memory>(i.d);
  for_each_lane(active, [&](std::size_t l) {
    std::memcpy(&r[l], memory_at(w, i.space, w.address(i, l), sizeof(Memory), l, {Use::read, i.order}), sizeof(Memory));
  });
  w.lanes<Memory>(i.d) = r;
  return Flow::next;
}

template <class Memory, class Register>
Flow run_store(Warp& w, const Instruction& i, Lanes active) {
  const std::size_t count = i.size / sizeof(Memory);
  for_each_lane(active, [&](std::size_t l) {
    std::array<Memory, 8> values;
    for (std::size_t k = 0; k < count; ++k) values[k] = static_cast<Memory>(w.lanes<Register>(i.detail->b[k])[l]);
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    std::memcpy(memory_at(w, i.space, w.address(i, l), i.size, l, {Use::write, i.order, bytes}), bytes, i.size);
    release(w, i, l, false);
  });
  return Flow::next;
}

int lanes_of(const Binder& b) { return b.has("v8") ? 8 : b.has("v4") ? 4 : b.has("v2") ? 2 : 1; }

/// Binds operand i, the address of as many elements as the vector has.
void bind_address(Binder& b, std::size_t i) {
  constexpr int max_bytes = 32;
  const int bytes = lanes_of(b) * type_bits(b.type()) / 8;
  if (bytes > max_bytes) b.fail("at most 32 bytes");
  b.to().space = space_of(b);
  b.to().order = order_of(b);
  b.to().size = static_cast<std::uint8_t>(bytes);
  b.address(i);
}

std::vector<Operand> vector_of(const Binder& b, std::size_t i) {
  std::vector<Operand> list = b.elements(i);
  if (list.size() != static_cast<std::size_t>(lanes_of(b))) b.fail("as many registers as the vector has elements");
  return list;
}

// Returns the bits of the registers, which must be the same for all elements.
int register_bits(const Binder& b, const std::vector<Operand>& list, int bits) {
  int own = 0;
  for (const Operand& o : list)
    if (o.kind == Operand::Kind::name) own = std::max(own, b.bits_of(o, bits));
  return own == 0 ? std::max(bits, 16) : own;
}

void load(Binder& b) {
  b.expect_operands(2, 2);
  bind_address(b, 1);
  std::vector<Operand> list = vector_of(b, 0);
  const int bits = type_bits(b.type());
  const int own = register_bits(b, list, bits);
  // A compiler may load more than the program asks for, such as four elements of which three are used. Other threads
  // may write the unused elements at the same time, so unused registers at the end of the list are not loaded.
  while (list.size() > 1 && !b.has("volatile") && b.is_unused(list.back())) list.pop_back();
  if (lanes_of(b) == 1 && own == bits) {
    b.to().d = b.write(list[0], bits);
    return with_register(bits, [&]<class Memory>(Typed<Memory>) { b.to().run = run_load_one<Memory>; });
  }
  for (const Operand& o : list) {
    const RegisterPlace place = b.write(o, own);
    b.detail().d.push_back(place);
    if (place == b.to().a) b.fail("an address in a register other than the loaded ones");
  }
  with_register(own, [&]<class Register>(Typed<Register>) {
    with_integer(b.type(), [&]<class Memory>(Typed<Memory>) { b.to().run = run_load<Memory, Register>; });
  });
}

void store(Binder& b) {
  b.expect_operands(2, 2);
  bind_address(b, 0);
  const std::vector<Operand> list = vector_of(b, 1);
  const int own = register_bits(b, list, type_bits(b.type()));
  for (const Operand& o : list) b.detail().b.push_back(b.read(o, own));
  with_register(own, [&]<class Register>(Typed<Register>) {
    with_integer(b.type(), [&]<class Memory>(Typed<Memory>) { b.to().run = run_store<Memory, Register>; });
  });
}

// ---- atom and red. `F`: computes the new value from the old one and the operands.
template <class T, class F>
Flow run_atomic(Warp& w, const Instruction& i, Lanes active) {
  return update_memory<T>(w, i, active, F{});
}

template <class T>
Meaning atomic_of(const Binder& b) {
  const auto of = []<class F>(F) -> Meaning { return run_atomic<T, F>; };
  if (b.has("add"))
    return of([](T x, T y, T) -> T {
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
      else
        return x + y;
    });
  if (b.has("min")) return of([](T x, T y, T) { return std::min(x, y); });
  if (b.has("max")) return of([](T x, T y, T) { return std::max(x, y); });
  if (b.has("exch")) return of([](T, T y, T) { return y; });
  if constexpr (std::is_unsigned_v<T>) {
    if (b.has("cas")) return of([](T x, T y, T z) { return x == y ? z : x; });
    if (b.has("and")) return of([](T x, T y, T) -> T { return x & y; });
    if (b.has("or")) return of([](T x, T y, T) -> T { return x | y; });
    if (b.has("xor")) return of([](T x, T y, T) -> T { return x ^ y; });
    // PTX ISA, "atom": inc and dec wrap around at y.
    if (b.has("inc")) return of([](T x, T y, T) -> T { return x >= y ? 0 : x + 1; });
    if (b.has("dec")) return of([](T x, T y, T) -> T { return x == 0 || x > y ? y : x - 1; });
  }
  b.fail("an operation of this type");
}

}  // namespace

void bind_atomic(Binder& b) {
  const bool gives = b.word(0) == "atom", swaps = b.has("cas");
  const std::size_t first = gives ? 1 : 0, count = first + (swaps ? 3 : 2);
  b.expect_operands(count, count);
  bind_address(b, first);
  const int bits = type_bits(b.type());
  for (const Operand& o : vector_of(b, first + 1)) b.detail().b.push_back(b.read(o, bits));
  if (swaps) b.detail().c.push_back(b.read(first + 2, bits));
  if (!gives) return;
  for (const Operand& o : vector_of(b, 0)) b.detail().d.push_back(b.write(o, bits));
}

namespace {

void atomic(Binder& b) {
  bind_atomic(b);
  const auto bind = [&]<class T>(Typed<T>) { b.to().run = atomic_of<T>(b); };
  b.type()[0] == 'f' ? with_float(b.type(), bind) : with_wide_integer(b.type(), bind);
}

constexpr Row rows[] = {
    {"ld.{weak|relaxed|acquire|volatile}.{cta|cluster|gpu|sys}.{global|const|shared|shared::cta|shared::cluster|param|"
     "local}"
     ".{ca|cg|cs|lu|cv}.{nc}.{L1::evict_last|L1::evict_first|L1::no_allocate}.{L2::64B|L2::128B|L2::256B}.{v2|v4|v8}"
     ".b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64",
     load},
    {"st.{weak|relaxed|release|volatile}.{cta|cluster|gpu|sys}.{global|shared|shared::cta|shared::cluster|param|local}"
     ".{wb|cg|cs|wt}.{L1::evict_last|L1::evict_first|L1::no_allocate}.{v2|v4|v8}"
     ".b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64",
     store},
    {"atom.{relaxed|acquire|release|acq_rel}.{cta|cluster|gpu|sys}.{global|shared|shared::cta|shared::cluster}"
     ".add|min|max|exch|cas|and|or|xor|inc|dec.{v2|v4}.b16|b32|b64|u32|u64|s32|s64|f32|f64",
     atomic},
    // libcu++ puts the operation first.
    {"atom.add|min|max|exch|cas|and|or|xor.relaxed|acquire|release|acq_rel.cta|cluster|gpu|sys.{global|shared}"
     ".b32|b64|u32|u64|s32|s64|f32|f64",
     atomic},
    {"red.{relaxed|release}.{cta|cluster|gpu|sys}.{global|shared|shared::cta|shared::cluster}"
     ".add|min|max|and|or|xor|inc|dec.{v2|v4}.b32|b64|u32|u64|s32|s64|f32|f64",
     atomic},
};

}  // namespace

std::span<const Row> memory_rows() { return rows; }

}  // namespace deplo::measure::ptx
