// The statements of Kernel IR that become matrix instructions, executed by whole warps and warpgroups.
#include <array>
#include <span>
#include <variant>

#include "core/mapped.h"
#include "ir/hardware/mma.h"
#include "ir/hardware/tma.h"
#include "ir/interpret/statements/statements.h"
#include "ir/types/float16.h"

namespace deplo::ir::exec {
namespace {

constexpr int warp_lanes = gpu::warp, matrix_rows = 8;

/// Each thread reads the row that it names; then the elements are distributed over the warp.
struct RunLdMatrix {
  Access from;
  std::size_t dst;
  int matrices, packed;  // `packed`: elements per register
  bool transposed;

  void operator()(Machine& m, Mask mask) {
    m.converge(mask);
    m.products.touch(dst);
    const Offsets offsets = m.locate(from, mask);
    Shared& shared = m.shared.buffers[static_cast<std::size_t>(from.buffer)];
    for (int warp = 0; warp < m.lanes.count; warp += warp_lanes) {
      double element[4][matrix_rows][8];
      for (int j = 0; j < matrices; ++j)
        for (int row = 0; row < matrix_rows; ++row) {
          const int lane = warp + j * matrix_rows + row;
          const std::int64_t at = offsets[lane];
          if (at % from.lanes != 0)
            m.lanes.fail("misaligned row of a matrix at element " + std::to_string(at) + " of " + shared.name, lane);
          for (int column = 0; column < from.lanes; ++column)
            element[j][row][column] = m.shared.read(shared, shared.cells[static_cast<std::size_t>(at + column)], lane);
        }
      for (int lane = 0; lane < warp_lanes; ++lane)
        for (int w = 0; w < packed * matrices; ++w) {
          const int j = w / packed, along = lane / 4, k = lane % 4 * packed + w % packed;
          m.lanes.element(dst, w)[warp + lane] = transposed ? element[j][k][along] : element[j][along][k];
        }
    }
  }
};

/// Copies the values lane by lane, rounded to the type.
struct RunPack {
  std::vector<Operand> values;
  std::size_t dst;
  DType dtype;

  void operator()(Machine& m, Mask mask) const {
    m.products.touch(dst);
    int w = 0;
    for (const Operand& value : values)
      for (int lane = 0; lane < value.lanes; ++lane, ++w) {
        const double* from = m.lanes.element(value.value, lane);
        double* to = m.lanes.element(dst, w);
        for (int l = 0; l < m.lanes.count; ++l)
          if (mask == nullptr || mask[l] != 0)
            to[l] = is_float16(dtype) ? m.arithmetic.stored(from[l], dtype) : from[l];
      }
  }
};

/// Moves thread t's values[r], rounded, to pair t of thread r.
struct RunQuadTranspose {
  std::array<std::size_t, QuadTranspose::threads> values;
  std::size_t dst;
  DType dtype;

  void operator()(Machine& m, Mask mask) const {
    m.converge(mask);
    constexpr int count = QuadTranspose::threads;
    for (int first = 0; first < m.lanes.count; first += count)
      for (int r = 0; r < count; ++r)
        for (int t = 0; t < count; ++t)
          for (int w = 0; w < 2; ++w)
            m.lanes.element(dst, 2 * t + w)[first + r] =
                m.arithmetic.stored(m.lanes.element(values[static_cast<std::size_t>(r)], w)[first + t], dtype);
  }
};

/// Collects the fragments of a warp's threads, multiplies, and distributes the sums to the threads.
struct RunMma {
  const mma::Atom* atom;
  std::vector<Operand> sums;
  std::size_t a, b;
  int part;

  /// Returns an element of a register. Fails if a tf32 operand is not rounded, because the instruction does not specify
  /// how it treats the remaining bits of an f32.
  double operand(Machine& m, std::size_t value, int w, int lane) const {
    const double element = m.lanes.element(value, w)[lane];
    if (atom->operands == mma::Operands::tf32 && !m.arithmetic.is_tf32(element))
      m.lanes.fail("an operand of " + atom->name + " that is not rounded: " + std::to_string(element), lane);
    return element;
  }

  void operator()(Machine& m, Mask mask) const {
    m.converge(mask);
    const auto packed = static_cast<int>(atom->packed()), depth = static_cast<int>(atom->depth());
    const auto k_of = [&](int matrix, int w, int t) { return matrix * depth + t * packed + w % packed; };
    for (int warp = 0; warp < m.lanes.count; warp += warp_lanes) {
      double left[16][16], right[8][16];  // the second index is along k
      for (int lane = 0; lane < warp_lanes; ++lane) {
        const int g = lane / 4, t = lane % 4;
        for (int w = 0; w < packed * atom->a_matrices(); ++w) {  // rows g and 8 + g
          const int matrix = w / packed;
          left[g + matrix % 2 * 8][k_of(matrix / 2, w, t)] = operand(m, a, w, warp + lane);
        }
        for (int w = 0; w < packed * atom->b_matrices(); ++w)
          right[g][k_of(w / packed, w, t)] = operand(m, b, packed * part + w, warp + lane);
      }
      for (int lane = 0; lane < warp_lanes; ++lane)
        for (std::size_t r = 0; r < 2; ++r)
          for (std::size_t v = 0; v < 2; ++v) {
            const bool vectors = sums.size() == 2;
            const Operand& of = sums[vectors ? r : 2 * r + v];
            double& sum = m.lanes.element(of.value, vectors ? static_cast<int>(v) : 0)[warp + lane];
            const auto row = static_cast<std::size_t>(lane / 4) + 8 * r,
                       column = static_cast<std::size_t>(lane % 4) * 2 + v;
            const auto depth_of_atom = static_cast<std::size_t>(atom->k);
            sum = m.arithmetic.dot(sum, std::span(left[row], depth_of_atom), std::span(right[column], depth_of_atom));
          }
    }
  }
};

constexpr int warpgroup_lanes = mma::warpgroup;

/// The location of a matrix in shared memory that a descriptor names.
struct MatrixAt {
  Access from;
  std::int64_t rows;  // extent of the dimension that is not k
  bool transposed;
  std::int64_t swizzle, leading;

  // Returns the matrix's cells, computed as the hardware does: the swizzle flips bits of the address. `first`: the
  // element at which the matrix begins.
  MatrixCells cells(const Machine& m, std::int64_t first, int lane) const {
    constexpr std::int64_t element = 2;
    const Shared& shared = m.shared.buffers[static_cast<std::size_t>(from.buffer)];
    if (shared.align % (swizzle * tma::pattern_rows) != 0)
      m.lanes.fail("misaligned matrix: " + shared.name + " is aligned to " + std::to_string(shared.align) + " bytes",
                   lane);
    const std::int64_t step = swizzle * tma::pattern_rows, panel = swizzle / element;
    MatrixCells result{from.buffer, {}};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < MatrixProduct::depth; ++k) {
        const std::int64_t along = transposed ? k : i, column = transposed ? i : k;
        const std::int64_t linear =
            first * element + along / tma::pattern_rows * step + along % tma::pattern_rows * swizzle +
            (transposed ? column / panel * leading + column % panel * element : column * element);
        const std::int64_t cell = tma::swizzled_address(linear, static_cast<int>(swizzle)) / element;
        if (cell < 0 || cell >= std::ssize(shared.cells))
          m.lanes.fail("index out of range: a matrix reaches beyond the end of " + shared.name, lane);
        result.cells.push_back(cell);
      }
    return result;
  }
};

struct RunWgmma {
  std::vector<Operand> sums;
  std::variant<MatrixAt, std::size_t> a;  // a matrix in memory, or a value
  MatrixAt b;

  static std::vector<std::int64_t> firsts(Machine& m, MatrixAt& operand, Mask mask) {
    const Offsets offsets = m.locate(operand.from, mask);
    std::vector<std::int64_t> result;
    for (int lane = 0; lane < m.lanes.count; ++lane) {
      if (lane % warpgroup_lanes == 0) result.push_back(offsets[lane]);
      if (offsets[lane] != result.back()) m.lanes.fail("the threads of a warpgroup name several matrices", lane);
    }
    return result;
  }

  void operator()(Machine& m, Mask mask) {
    m.converge(mask);
    auto* in_shared = std::get_if<MatrixAt>(&a);
    const std::vector<std::int64_t> at_a = in_shared != nullptr ? firsts(m, *in_shared, mask) : decltype(at_a)(),
                                    at_b = firsts(m, b, mask);
    for (std::size_t group = 0; group < at_b.size(); ++group) {
      const int lane = static_cast<int>(group) * warpgroup_lanes;
      MatrixProduct product{lane, sums, {}, b.cells(m, at_b[group], lane)};
      if (in_shared != nullptr)
        product.a = in_shared->cells(m, at_a[group], lane);
      else
        product.a = std::get<std::size_t>(a);
      m.products.start(std::move(product));
    }
  }
};

void check_warps(Compiler& c) {
  if (c.machine.lanes.count % warp_lanes != 0) c.fail("expected whole warps of threads");
}

}  // namespace

void compile(Compiler& c, const LdMatrix& s) {
  check_warps(c);
  const int packed = is_float16(s.type.dtype) ? 2 : 1, matrices = s.type.lanes / packed;
  if (s.transposed && packed == 1) c.fail("expected matrices of 16 bits to transpose");
  if (matrices < 1 || matrices > 4 || s.type.lanes % packed != 0) c.fail("expected one, two or four matrices");
  RunLdMatrix run{c.access(s.buffer, s.index, 4 * packed), 0, matrices, packed, s.transposed};
  if (!run.from.shared) c.fail("expected a shared buffer, found " + s.buffer);
  run.dst = c.define(s.dst, s.type.lanes);
  c.emit(std::move(run));
}

void compile(Compiler& c, const Pack& s) {
  RunPack run{{}, 0, s.type.dtype};
  int lanes = 0;
  for (const std::string& value : s.values) {
    run.values.push_back(c.operand(value, 0));
    lanes += run.values.back().lanes;
  }
  if (lanes != s.type.lanes) c.fail("expected values of " + std::to_string(s.type.lanes) + " lanes");
  run.dst = c.define(s.dst, s.type.lanes);
  c.emit(std::move(run));
}

void compile(Compiler& c, const QuadTranspose& s) {
  constexpr int count = QuadTranspose::threads;
  if (std::ssize(s.values) != count || s.type.lanes != 2 * count || !is_float16(s.type.dtype))
    c.fail("expected four values, and eight lanes of 16 bits");
  if (c.machine.lanes.count % count != 0) c.fail("expected groups of four threads");
  RunQuadTranspose run{{}, 0, s.type.dtype};
  for (std::size_t i = 0; i < count; ++i) {
    const Operand value = c.operand(s.values[i], 0);
    if (value.lanes != 2) c.fail("expected values of two lanes");
    run.values[i] = value.value;
  }
  run.dst = c.define(s.dst, s.type.lanes);
  c.emit(run);
}

void compile(Compiler& c, const Mma& s) {
  check_warps(c);
  const Operand a = c.operand(s.a, 0), b = c.operand(s.b, 0);
  const mma::Atom* atom = mma::find_atom(s.atom);
  if (atom == nullptr || atom->of_warpgroup()) c.fail("expected a matrix instruction of a warp, found " + s.atom);
  if (a.lanes != atom->packed() * atom->a_matrices() || s.part < 0 ||
      b.lanes < atom->packed() * (s.part + atom->b_matrices()))
    c.fail("expected the matrices of " + s.atom);
  RunMma run{atom, {}, a.value, b.value, static_cast<int>(s.part)};
  for (const std::string& sum : s.sums) run.sums.push_back(c.operand(sum, 0));
  const bool vectors = run.sums.size() == 2;
  if (!vectors && run.sums.size() != 4) c.fail("expected two or four accumulators");
  for (const Operand& sum : run.sums)
    if (sum.lanes != (vectors ? 2 : 1)) c.fail("expected accumulators of two lanes, or four of one");
  c.emit(std::move(run));
}

namespace {

std::vector<Operand> values_of(Compiler& c, const std::vector<std::string>& names) {
  if (c.machine.lanes.count % warpgroup_lanes != 0) c.fail("expected whole warpgroups of threads");
  return mapped(names, [&](const std::string& name) { return c.operand(name, 0); });
}

std::size_t fragment_of(Compiler& c, const std::string& name) {
  const Operand fragment = c.operand(name, 0);
  if (fragment.lanes != MatrixProduct::fragment) c.fail("expected a fragment of a warpgroup's product, found " + name);
  return fragment.value;
}

MatrixAt matrix_at(Compiler& c, const SharedMatrix& s, std::int64_t rows) {
  MatrixAt result{c.access(s.buffer, s.index, 1), rows, s.transposed, s.swizzle, s.leading};
  if (!result.from.shared) c.fail("expected a shared buffer, found " + s.buffer);
  if (c.machine.shared.buffers[static_cast<std::size_t>(result.from.buffer)].element_bytes != 2)
    c.fail("expected elements of 16 bits in " + s.buffer);
  if (!tma::is_pattern(s.swizzle)) c.fail("expected a swizzle of 32, 64 or 128 bytes");
  return result;
}

}  // namespace

void compile(Compiler& c, const Wgmma& s) {
  const mma::Atom* atom = mma::find_atom(s.atom);
  if (atom == nullptr || atom->m != MatrixProduct::rows || atom->k != MatrixProduct::depth)
    c.fail("expected an instruction of a warpgroup");
  RunWgmma run{values_of(c, s.sums), {}, matrix_at(c, s.b, atom->n)};
  if (const auto* fragment = std::get_if<std::string>(&s.a))
    run.a = fragment_of(c, *fragment);
  else
    run.a = matrix_at(c, std::get<SharedMatrix>(s.a), atom->m);
  std::int64_t registers = 0;
  for (const Operand& sum : run.sums) registers += sum.lanes;
  if (registers * warpgroup_lanes != atom->m * atom->n) c.fail("expected an accumulator for each of a thread's sums");
  c.machine.products.used = true;
  c.emit(std::move(run));
}

void compile(Compiler& c, const WgmmaFence& s) {
  std::vector<Operand> registers = values_of(c, s.sums);
  for (const std::string& fragment : s.fragments) registers.push_back(c.operand(fragment, 0));
  c.emit([registers = std::move(registers)](Machine& m, Mask mask) {
    m.converge(mask);
    m.products.fence(registers);
  });
}

void compile(Compiler& c, const WgmmaCommit&) {
  c.emit([](Machine& m, Mask mask) {
    m.converge(mask);
    m.products.commit();
  });
}

void compile(Compiler& c, const WgmmaWait& s) {
  c.emit([keep = s.keep, sums = values_of(c, s.sums)](Machine& m, Mask mask) {
    m.converge(mask);
    m.products.wait(keep, sums);
  });
}

}  // namespace deplo::ir::exec
