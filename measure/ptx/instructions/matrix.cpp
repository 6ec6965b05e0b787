// Matrix instructions of warps and warpgroups. Products and sums are computed in double and rounded once, or added as
// tensor cores add them (LaunchOptions::truncates).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>

#include "core/mapped.h"
#include "ir/types/float16.h"
#include "measure/ptx/floats.h"
#include "measure/ptx/instructions/table.h"
#include "measure/ptx/instructions/tensor_sum.h"
#include "measure/ptx/machine.h"
#include "measure/ptx/warp/warp_memory.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::size_t row_bytes = 16;  // of a row of an 8 x 8 matrix with 16-bit elements

// ---- ldmatrix and stmatrix: lanes 8 i to 8 i + 7 have the addresses of the rows of matrix i (PTX ISA, "ldmatrix").
template <bool stores>
Flow run_matrix_copy(Warp& w, const Instruction& i, Lanes) {
  const std::vector<RegisterPlace>& registers = stores ? i.detail->b : i.detail->d;
  std::array<std::array<std::uint16_t, 8>, 32> rows{};
  const auto each = [&](const auto& visit) {
    for (std::size_t m = 0; m < registers.size(); ++m)
      for (std::size_t lane = 0; lane < warp_lanes; ++lane)
        for (std::size_t half = 0; half < 2; ++half) {
          const std::size_t line = lane / 4, column = 2 * (lane % 4) + half;
          visit(m, lane, half, i.detail->a_transposed ? rows[8 * m + column][line] : rows[8 * m + line][column]);
        }
  };
  if constexpr (stores)
    each([&](std::size_t m, std::size_t lane, std::size_t half, std::uint16_t& element) {
      element = static_cast<std::uint16_t>(w.lanes<std::uint32_t>(registers[m])[lane] >> (16 * half));
    });
  for (std::size_t lane = 0; lane < 8 * registers.size(); ++lane) {
    std::byte* const at = memory_at(w, i.space, w.address(i, lane), row_bytes, lane, {stores ? Use::write : Use::read});
    if constexpr (stores)
      std::memcpy(at, rows[lane].data(), row_bytes);
    else
      std::memcpy(rows[lane].data(), at, row_bytes);
  }
  if constexpr (stores) return Flow::next;
  std::array<PerLane<std::uint32_t>, 4> r{};
  each([&](std::size_t m, std::size_t lane, std::size_t half, std::uint16_t element) {
    r[m][lane] |= std::uint32_t{element} << (16 * half);
  });
  for (std::size_t m = 0; m < registers.size(); ++m) w.store(registers[m], r[m], all_lanes);
  return Flow::next;
}
/// Binds a list of `count` registers of 32 bits.
std::vector<RegisterPlace> bind_list(Binder& b, std::size_t operand, std::size_t count, bool writes) {
  const std::vector<Operand> list = b.elements(operand);
  if (list.size() != count) b.fail(fmt::format("{} registers, found {}", count, list.size()));
  return mapped(list, [&](const Operand& o) { return writes ? b.write(o, 32) : b.read(o, 32); });
}
void matrix_copy(Binder& b) {
  b.expect_operands(2, 2);
  const bool stores = b.word(0) == "stmatrix";
  b.to().space = b.has("shared") || b.has("shared::cta") ? Space::shared : Space::generic;
  b.address(stores ? 0 : 1);
  const std::size_t count = b.has("x4") ? 4 : b.has("x2") ? 2 : 1;
  (stores ? b.detail().b : b.detail().d) = bind_list(b, stores ? 1 : 0, count, !stores);
  b.detail().a_transposed = b.has("trans");
  b.to().together = Together::full_warp;
  b.to().run = stores ? run_matrix_copy<true> : run_matrix_copy<false>;
}

// ---- elements of fragments
enum class Element { bf16, f16, tf32 };

ir::DType dtype(Element type) { return type == Element::bf16 ? ir::DType::bf16 : ir::DType::f16; }

/// Decodes the bits of elements as numbers.
class Numbers {
 public:
  explicit Numbers(const Warp&) {}
  double value(std::uint16_t bits, Element type) const { return ir::float16_value(bits, dtype(type)); }
  // PTX ISA, "Alternate floating point data formats": the lower 13 bits of a tf32 are not read.
  double tf32(std::uint32_t bits) const { return std::bit_cast<float>(bits & 0xffffe000U); }
};

/// Decodes the bits of elements as elements of an arithmetic (LaunchOptions::floats).
class Exact {
 public:
  explicit Exact(const Warp& w) : floats_(*w.machine().options().floats) {}
  double value(std::uint16_t bits, Element type) const { return floats_.decode(bits, dtype(type)); }
  double tf32(std::uint32_t bits) const { return floats_.decode(bits); }

 private:
  Floats& floats_;
};

using Elements = std::array<double, 16>;  // up to 16 elements along k

/// Reads an operand from a warp's registers: the rows of a (`lines`: 16), or the columns of b (8) (PTX ISA, "Matrix
/// Fragments for mma.m16n8k16"). If elements have 16 bits, register 0 of lane 4 g + t holds elements 2 t and 2 t + 1 of
/// line g; if they are tf32, it holds element t. For a, register 1 holds line g + 8, and registers 2 and 3 hold the
/// same lines at k + 8 (tf32: k + 4). For b, register 1 holds line g at k + 8 (tf32: k + 4).
template <class Values, std::size_t lines>
std::array<Elements, lines> fragment_of(Warp& w, const std::vector<RegisterPlace>& registers, Element type) {
  constexpr std::size_t lines_of_register = 8, parts = lines / lines_of_register;
  const Values values(w);
  std::array<Elements, lines> read{};
  for (std::size_t r = 0; r < registers.size(); ++r) {
    const PerLane<std::uint32_t>& word = w.lanes<std::uint32_t>(registers[r]);
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
      Elements& line = read[lane / 4 + lines_of_register * (r % parts)];
      if (type == Element::tf32) {
        line[lane % 4 + 4 * (r / parts)] = values.tf32(word[lane]);
      } else {
        const std::size_t k = 2 * (lane % 4) + 8 * (r / parts);
        line[k] = values.value(static_cast<std::uint16_t>(word[lane]), type);
        line[k + 1] = values.value(static_cast<std::uint16_t>(word[lane] >> 16), type);
      }
    }
  }
  return read;
}

double dot(const Elements& a, const Elements& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

std::array<Aligned, 16> aligned(const Elements& elements, Element type) {
  const int min_exponent = type == Element::f16 ? -14 : -126;  // exponent of the smallest normal number of the type
  std::array<Aligned, 16> result;
  for (std::size_t k = 0; k < elements.size(); ++k)
    result[k] = {elements[k], elements[k] == 0 ? min_exponent : std::max(std::ilogb(elements[k]), min_exponent)};
  return result;
}

/// Adds products to a sum of type float, as the launch's options say.
class RoundedSum {
 public:
  using Register = float;
  RoundedSum(const Warp& w, Element type, std::size_t) : type_(type) {
    const Machine& machine = w.block().machine();
    if (machine.options().truncates) tensor_sum_ = tensor_sum_of(machine.program().target);
  }

  /// Returns c + sign * (a · b).
  float operator()(const Elements& a, const Elements& b, double sign, float c) const {
    if (!tensor_sum_) return static_cast<float>(sign * dot(a, b) + static_cast<double>(c));
    Elements signed_a = a;
    for (double& element : signed_a) element *= sign;
    return (*tensor_sum_)(aligned(signed_a, type_), aligned(b, type_), c, type_ == Element::tf32 ? 4 : 2);
  }

 private:
  Element type_;
  std::optional<TensorSum> tensor_sum_;
};

/// Adds the first `depth` products to a sum in an arithmetic. A Register holds the bits of an element.
class ExactSum {
 public:
  using Register = std::uint32_t;
  ExactSum(const Warp& w, Element, std::size_t depth) : floats_(*w.machine().options().floats), depth_(depth) {}

  std::uint32_t operator()(const Elements& a, const Elements& b, double sign, std::uint32_t c) const {
    Elements signed_a = a;
    const auto n = static_cast<std::int64_t>(depth_);
    if (sign < 0) floats_.arithmetic().apply(ir::Op::negative, n, signed_a.data(), a.data(), nullptr, nullptr);
    return floats_.encode(
        floats_.arithmetic().dot(floats_.decode(c), std::span(signed_a).first(depth_), std::span(b).first(depth_)));
  }

 private:
  Floats& floats_;
  std::size_t depth_;
};

// ---- mma.sync. detail.k: the extent of k.
template <class Values, class Adder>
Flow run_mma(Warp& w, const Instruction& i, Lanes) {
  using Register = typename Adder::Register;
  const Detail& t = *i.detail;
  const auto type = static_cast<Element>(t.format);
  const std::array<Elements, 16> a = fragment_of<Values, 16>(w, t.a, type);
  const std::array<Elements, 8> b = fragment_of<Values, 8>(w, t.b, type);
  const Adder add(w, type, static_cast<std::size_t>(t.k));
  std::array<PerLane<Register>, 4> d;
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t lane = 0; lane < warp_lanes; ++lane)
      d[r][lane] = add(a[lane / 4 + 8 * (r / 2)], b[2 * (lane % 4) + r % 2], 1, w.lanes<Register>(t.c[r])[lane]);
  for (std::size_t r = 0; r < 4; ++r) w.store(t.d[r], d[r], all_lanes);
  return Flow::next;
}

Element element_of(const Binder& b) {
  return b.has("bf16") ? Element::bf16 : b.has("tf32") ? Element::tf32 : Element::f16;
}

void mma(Binder& b) {
  b.expect_operands(4, 4);
  if (b.word(7) != b.word(8)) b.fail("operands of one type");
  const bool deep = b.has("m16n8k16") || (b.has("tf32") && b.has("m16n8k8"));
  b.detail().d = bind_list(b, 0, 4, true);
  b.detail().a = bind_list(b, 1, deep ? 4 : 2, false);
  b.detail().b = bind_list(b, 2, deep ? 2 : 1, false);
  b.detail().c = bind_list(b, 3, 4, false);
  b.detail().format = static_cast<int>(element_of(b));
  b.to().together = Together::full_warp;
  b.detail().k = b.has("m16n8k16") ? 16 : b.has("m16n8k8") ? 8 : 4;
  b.to().run = b.is_exact() ? run_mma<Exact, ExactSum> : run_mma<Numbers, RoundedSum>;
}

// ---- wmma, m16n16k16. The layout of its fragments is not specified (PTX ISA, "Matrix Fragments for WMMA"). Here it is
// that of two mma.m16n8k16, for columns 0 to 7 and 8 to 15. Factors of f16 take eight registers, so the last four hold
// the same elements as the first four.
struct MatrixPlace {
  std::size_t row = 0, column = 0;
};

/// These return where an element of a, b, or c and d is in its matrix. `half`: its half of the register.
MatrixPlace place_in_a(std::size_t r, std::size_t lane, std::size_t half) {
  return {lane / 4 + 8 * (r % 2), 2 * (lane % 4) + 8 * (r / 2 % 2) + half};
}
MatrixPlace place_in_b(std::size_t r, std::size_t lane, std::size_t half) {
  return {2 * (lane % 4) + 8 * (r % 2) + half, lane / 4 + 8 * (r / 2 % 2)};
}
MatrixPlace place_in_sum(std::size_t r, std::size_t lane, std::size_t) {
  return {lane / 4 + 8 * (r / 2 % 2), 8 * (r / 4) + 2 * (lane % 4) + r % 2};
}

/// Checks what CUDA requires of load_matrix_sync and store_matrix_sync (CUDA C++ Programming Guide, "Warp Matrix
/// Functions"): all lanes have the same address, at a multiple of 32 bytes, and rows begin at multiples of 16 bytes.
void check_matrix(Warp& w, const Instruction& i, std::uint64_t row_pitch) {
  constexpr std::uint64_t alignment = 32, row_alignment = 16;
  const std::uint64_t start = w.address(i, 0);
  for (std::size_t lane = 1; lane < warp_lanes; ++lane)
    if (w.address(i, lane) != start)
      throw Finding("the lanes of the warp have different values as the address of a matrix", lane);
  if (start % alignment != 0)
    throw Finding(fmt::format("misaligned: a matrix at {:#x}, which is not a multiple of {}", start, alignment));
  if (row_pitch % row_alignment != 0)
    throw Finding(fmt::format("misaligned: a matrix with rows every {} bytes, which is not a multiple of {}", row_pitch,
                              row_alignment));
}

// i.b: elements from one row to the next, or from one column to the next if the matrix is stored by columns.
template <bool stores, MatrixPlace (*place_of)(std::size_t, std::size_t, std::size_t)>
Flow run_wmma_copy(Warp& w, const Instruction& i, Lanes active) {
  const std::vector<RegisterPlace>& registers = stores ? i.detail->b : i.detail->d;
  const std::uint64_t stride = w.uniform<std::uint32_t>(i.b, active, "the stride of a matrix");
  check_matrix(w, i, stride * i.size);
  for (std::size_t r = 0; r < registers.size(); ++r) {
    PerLane<std::uint32_t> words = w.lanes<std::uint32_t>(registers[r]);
    for (std::size_t lane = 0; lane < warp_lanes; ++lane)
      for (std::size_t half = 0; half < sizeof(std::uint32_t) / i.size; ++half) {
        const auto [row, column] = place_of(r, lane, half);
        const std::uint64_t element = i.detail->a_transposed ? column * stride + row : row * stride + column;
        std::byte* const own = reinterpret_cast<std::byte*>(&words[lane]) + half * i.size;
        const Operation operation{stores ? Use::write : Use::read, {}, stores ? own : nullptr};
        std::byte* const at = memory_at(w, i.space, w.address(i, lane) + element * i.size, i.size, lane, operation);
        std::memcpy(stores ? at : own, stores ? own : at, i.size);
      }
    if constexpr (!stores) w.store(registers[r], words, all_lanes);
  }
  return Flow::next;
}

void wmma_copy(Binder& b) {
  b.expect_operands(2, 3);
  const bool stores = b.word(1) == "store", is_f32 = b.has("f32");
  constexpr std::uint64_t rows = 16;  // also the number of columns, and so the stride if none is given
  b.to().space = b.has("global")                           ? Space::global
                 : b.has("shared") || b.has("shared::cta") ? Space::shared
                                                           : Space::generic;
  b.address(stores ? 0 : 1);
  (stores ? b.detail().b : b.detail().d) = bind_list(b, stores ? 1 : 0, b.has("bf16") ? 4 : 8, !stores);
  b.to().b = b.operands() == 3 ? b.read(2, 32) : b.constant(rows, 32);
  b.to().size = is_f32 ? 4 : 2;
  b.detail().a_transposed = b.has("col");
  b.to().together = Together::full_warp;
  b.to().run = stores             ? run_wmma_copy<true, place_in_sum>
               : is_f32           ? run_wmma_copy<false, place_in_sum>
               : b.word(2) == "a" ? run_wmma_copy<false, place_in_a>
                                  : run_wmma_copy<false, place_in_b>;
}

Flow run_wmma(Warp& w, const Instruction& i, Lanes) {
  const Detail& t = *i.detail;
  const auto type = static_cast<Element>(t.format);
  const std::array<Elements, 16> a = fragment_of<Numbers, 16>(w, t.a, type);
  const RoundedSum add(w, type, std::tuple_size_v<Elements>);
  std::array<PerLane<float>, 8> d;
  for (std::size_t r = 0; r < d.size(); ++r) {
    const std::size_t first = r / 4 * 2;  // register of b that the columns of this sum begin with
    const std::array<Elements, 8> b = fragment_of<Numbers, 8>(w, {t.b[first], t.b[first + 1]}, type);
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
      const MatrixPlace place = place_in_sum(r, lane, 0);
      d[r][lane] = add(a[place.row], b[place.column % 8], 1, w.lanes<float>(t.c[r])[lane]);
    }
  }
  for (std::size_t r = 0; r < d.size(); ++r) w.store(t.d[r], d[r], all_lanes);
  return Flow::next;
}

void wmma(Binder& b) {
  b.expect_operands(4, 4);
  constexpr std::size_t distinct = 4;  // registers of a factor; f16 has each twice
  const std::size_t count = b.has("bf16") ? distinct : 2 * distinct;
  b.detail().d = bind_list(b, 0, 8, true);
  b.detail().a = bind_list(b, 1, count, false);
  b.detail().b = bind_list(b, 2, count, false);
  b.detail().c = bind_list(b, 3, 8, false);
  b.detail().a.resize(distinct);
  b.detail().format = static_cast<int>(element_of(b));
  b.to().together = Together::full_warp;
  b.to().run = run_wmma;
}

// ---- wgmma. A matrix in shared memory is described by a 64-bit descriptor (PTX ISA, "Matrix Descriptor Format").
template <class Values>
class SharedMatrix {
 public:
  SharedMatrix(std::uint64_t bits, bool transposed, Warp& w, const Access& access)
      : start_((bits & 0x3fff) << 4),
        leading_((bits >> 16 & 0x3fff) << 4),
        stride_((bits >> 32 & 0x3fff) << 4),
        transposed_(transposed),
        warp_(w),
        access_(access),
        memory_(w.block().shared()),
        values_(w) {
    const std::uint64_t layout = bits >> 62;
    swizzle_ = layout == 0 ? 0 : 256 >> layout;  // 1: 128, 2: 64, 3: 32 bytes
    if ((bits >> 49 & 7) != 0) throw Finding("the machine executes matrix descriptors with a base offset of 0 only");
    // PTX ISA, "Matrix Descriptor Format": the base offset is 0 only if the swizzle's pattern of 8 rows, which repeats,
    // begins at a multiple of its size.
    if (const std::uint64_t row = swizzle_ == 0 ? 0 : start_ / swizzle_ % 8; row != 0)
      throw Finding(
          fmt::format("misaligned: the matrix at {:#x} begins in row {} of the 8 rows of its swizzle's "
                      "pattern, but the base offset in its descriptor is 0",
                      start_, row));
  }

  /// Returns the 16 elements along k of row `mn` of a, or of column `mn` of b.
  Elements row(std::size_t mn, Element type) const {
    Elements values;
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = values_.value(element(mn, k), type);
    return values;
  }

 private:
  // Byte offset of an element. CUTLASS, mma_traits_sm90_gmma.hpp, "Canonical layouts", in bytes: S is the swizzle's
  // width (swizzle_), T the 16 bytes of a row (row_bytes).
  std::uint64_t offset(std::uint64_t mn, std::uint64_t k) const {
    constexpr std::uint64_t bytes = 2, rows = 8;
    if (!transposed_) {
      if (swizzle_ == 0)
        return mn / rows * stride_ + mn % rows * row_bytes + k * bytes / row_bytes * leading_ + k * bytes % row_bytes;
      return mn / rows * stride_ + mn % rows * swizzle_ + k * bytes;
    }
    const std::uint64_t at = mn * bytes;
    if (swizzle_ == 0) return at / row_bytes * stride_ + at % row_bytes + k % rows * row_bytes + k / rows * leading_;
    return at / swizzle_ * leading_ + at % swizzle_ + k % rows * swizzle_ + k / rows * stride_;
  }

  std::uint16_t element(std::uint64_t mn, std::uint64_t k) const {
    const std::uint64_t address = swizzled(start_ + offset(mn, k), swizzle_);
    std::uint16_t bits = 0;
    const std::byte* const found = memory_.find(address, sizeof bits);
    if (found == nullptr) throw Finding("out of bounds: the matrix has an element at " + memory_.describe(address));
    if (!memory_.is_written(address, sizeof bits))
      warp_.machine().note_uninitialized(
          Finding(fmt::format("reads uninitialized shared memory: element ({}, {}) of a matrix, at byte {}", mn, k,
                              address - shared_start)),
          warp_);
    const std::uint64_t position = address - shared_start;
    if (const auto conflict = warp_.block().shadow().read(position, sizeof bits, access_))
      report(warp_, *conflict, "reads", sizeof bits, position);
    std::memcpy(&bits, found, sizeof bits);
    return bits;
  }

  std::uint64_t start_, leading_, stride_, swizzle_ = 0;
  bool transposed_;
  Warp& warp_;
  const Access& access_;
  SharedMemory& memory_;
  Values values_;
};

struct Product {
  std::uint64_t a = 0, b = 0;  // descriptors of matrices in shared memory
  bool adds = true;
  double sign = 1;
  std::uint32_t at = 0;
  Epoch group = 0;
  Knowledge before;
};

// A warp multiplies 16 rows of a by all columns of b. In lane 4 g + t, sum d[4 j + 2 r + v] belongs to row g + 8 r and
// column 8 j + 2 t + v (PTX ISA, "Register Fragments and Shared Memory Matrix Layouts").
template <class Values, class Adder>
void multiply(Warp& w, const Detail& t, const Product& product) {
  using Register = typename Adder::Register;
  const auto type = static_cast<Element>(t.format);
  const Access access{
      w.block().cluster().actors().products(w.order.actor()), product.group, product.at, true, false, &product.before};
  std::array<Elements, 16> rows;
  if (t.a.empty()) {
    const SharedMatrix<Values> a(product.a, t.a_transposed, w, access);
    const std::size_t first = 16 * (static_cast<std::size_t>(w.index()) % warpgroup_warps);
    for (std::size_t g = 0; g < rows.size(); ++g) rows[g] = a.row(first + g, type);
  } else {
    rows = fragment_of<Values, 16>(w, t.a, type);
  }
  const SharedMatrix<Values> b(product.b, t.b_transposed, w, access);
  const Adder add(w, type, std::tuple_size_v<Elements>);
  for (std::size_t n = 0; n < static_cast<std::size_t>(t.n); ++n) {
    const Elements column = b.row(n, type);
    const std::size_t j = n / 8, lane_part = n % 8 / 2, v = n % 2;
    for (std::size_t g = 0; g < rows.size(); ++g) {
      Register& d = w.lanes<Register>(t.d[4 * j + 2 * (g / 8) + v])[4 * (g % 8) + lane_part];
      d = add(rows[g], column, product.sign, product.adds ? d : Register{0});
    }
  }
}

// i.a and i.b: the descriptors; i.c: a predicate that says whether to add to the old sum.
template <class Values, class Adder>
Flow run_wgmma(Warp& w, const Instruction& i, Lanes active) {
  const Detail& t = *i.detail;
  Product product;
  if (t.a.empty()) product.a = w.uniform<std::uint64_t>(i.a, active, "the descriptor of a");
  product.b = w.uniform<std::uint64_t>(i.b, active, "the descriptor of b");
  product.adds = w.predicate(i.c) != 0;
  product.sign = static_cast<double>(i.number);
  product.at = w.at();
  product.group = static_cast<Epoch>(w.products.committed() + 1);
  product.before = w.order.knowledge();
  w.order.begin_epoch();
  w.block().issue(w, {w.at(), {product.a, product.b}});
  for (const RegisterPlace place : t.d) w.products.check_fenced(place);
  for (const RegisterPlace place : t.a) w.products.check_fenced(place);
  w.products.issue(w.at(), t, [&w, &t, product] { multiply<Values, Adder>(w, t, product); });
  if (w.machine().draw_early_work()) w.products.run(w, w.products.committed() + 1);
  return Flow::next;
}

void wgmma(Binder& b) {
  const bool registers = b.operand(1).kind == Operand::Kind::list;
  b.expect_operands(registers ? 7 : 8, registers ? 7 : 8);
  const std::string_view shape = b.word(4);  // "m64n128k16"
  const int n = std::atoi(std::string(shape.substr(4, shape.find('k') - 4)).c_str());
  if (n < 8 || n > 256 || n % 8 != 0 || !shape.ends_with("k16") || b.word(6) != b.word(7)) b.fail("a shape m64nNk16");
  std::vector<RegisterPlace> sums, fragment;
  for (const Operand& o : b.elements(0)) sums.push_back(b.write(o, 32));
  if (sums.size() != static_cast<std::size_t>(n) / 2) b.fail(fmt::format("{} sums, found {}", n / 2, sums.size()));
  if (registers)
    for (const Operand& o : b.elements(1)) fragment.push_back(b.read(o, 32));
  else
    b.to().a = b.read(1, 64);
  if (registers && fragment.size() != 4) b.fail("4 registers of a");
  b.to().b = b.read(2, 64);
  Operand adds = b.operand(3);
  if (adds.negated) b.fail("scale-d without '!'");
  b.to().c = adds.kind == Operand::Kind::number ? b.constant(adds.bits != 0 ? 1 : 0, 1) : b.read(adds, 1);
  const std::int64_t sign = b.integer(4) * b.integer(5);
  if (sign != 1 && sign != -1) b.fail("1 or -1 as a scale");
  b.to().number = sign;
  Detail& detail = b.detail();
  detail.n = n;
  detail.format = static_cast<int>(element_of(b));
  detail.a_transposed = !registers && b.integer(6) != 0;
  detail.b_transposed = b.integer(registers ? 6 : 7) != 0;
  detail.d = std::move(sums);
  detail.a = std::move(fragment);
  detail.reads.clear();  // no register checks: the products of a warpgroup are executed in order
  detail.writes.clear();
  b.to().together = Together::full_warp;
  b.to().run = b.is_exact() ? run_wgmma<Exact, ExactSum> : run_wgmma<Numbers, RoundedSum>;
}

Flow run_wgmma_fence(Warp& w, const Instruction&, Lanes) {
  w.products.note_fence();
  return Flow::next;
}
Flow run_wgmma_commit(Warp& w, const Instruction&, Lanes) {
  w.products.commit();
  return Flow::next;
}
Flow run_wgmma_wait(Warp& w, const Instruction& i, Lanes) {
  w.products.run(w, w.products.committed() - i.number);
  w.products.note_waited(w.products.committed() - i.number);
  w.order.see(w.block().cluster().actors().products(w.order.actor()),
              static_cast<Epoch>(std::max<std::int64_t>(w.products.committed() - i.number, 0)));
  return Flow::next;
}
template <Meaning run>
void wgmma_control(Binder& b) {
  const std::size_t count = b.has("wait_group") ? 1 : 0;
  b.expect_operands(count, count);
  if (count == 1) b.to().number = b.integer(0);
  b.to().together = Together::full_warp;
  b.to().run = run;
}

constexpr Row rows[] = {
    {"ldmatrix.sync.aligned.m8n8.x1|x2|x4.{trans}.{shared|shared::cta}.b16", matrix_copy},
    {"stmatrix.sync.aligned.m8n8.x1|x2|x4.{trans}.{shared|shared::cta}.b16", matrix_copy},
    {"mma.sync.aligned.m16n8k16|m16n8k8.row.col.f32.bf16|f16.bf16|f16.f32", mma},
    {"mma.sync.aligned.m16n8k8|m16n8k4.row.col.f32.tf32.tf32.f32", mma},
    {"wmma.load.a|b.sync.aligned.row|col.m16n16k16.{global|shared|shared::cta}.f16|bf16", wmma_copy},
    {"wmma.load.c.sync.aligned.row|col.m16n16k16.{global|shared|shared::cta}.f32", wmma_copy},
    {"wmma.store.d.sync.aligned.row|col.m16n16k16.{global|shared|shared::cta}.f32", wmma_copy},
    {"wmma.mma.sync.aligned.row|col.row|col.m16n16k16.f32.f32", wmma},
    {"wmma.mma.sync.aligned.row|col.row|col.m16n16k16.f32.bf16.bf16.f32", wmma},
    {"wgmma.mma_async.sync.aligned."
     "m64n8k16|m64n16k16|m64n24k16|m64n32k16|m64n40k16|m64n48k16|m64n56k16|m64n64k16|"
     "m64n72k16|m64n80k16|m64n88k16|m64n96k16|m64n104k16|m64n112k16|m64n120k16|m64n128k16|"
     "m64n136k16|m64n144k16|m64n152k16|m64n160k16|m64n168k16|m64n176k16|m64n184k16|m64n192k16|"
     "m64n200k16|m64n208k16|m64n216k16|m64n224k16|m64n232k16|m64n240k16|m64n248k16|m64n256k16"
     ".f32.bf16|f16.bf16|f16",
     wgmma},
    {"wgmma.fence.sync.aligned", wgmma_control<run_wgmma_fence>},
    {"wgmma.commit_group.sync.aligned", wgmma_control<run_wgmma_commit>},
    {"wgmma.wait_group.sync.aligned", wgmma_control<run_wgmma_wait>},
};

}  // namespace

std::span<const Row> matrix_rows() { return rows; }

}  // namespace deplo::measure::ptx
