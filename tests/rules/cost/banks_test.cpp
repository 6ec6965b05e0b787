// Compares the bank-conflict analyser with a count, thread by thread, that uses the layout's own index expressions.
#include "rules/cost/banks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "ir/hardware/stage_layout.h"
#include "ir/walk.h"

namespace deplo::ir::banks_test {
namespace {

using Point = std::vector<std::pair<std::string, std::int64_t>>;

using rules::Moves;

// Returns whether every thread reads the same element as its partner, the thread at distance `apart`.
bool paired(const std::vector<std::int64_t>& elements, std::size_t apart) {
  bool same = true;
  for (std::size_t t = 0; t < elements.size(); ++t) {
    const std::size_t partner = t / apart % 2 == 0 ? t + apart : t - apart;
    if (partner < elements.size()) same &= elements[t] == elements[partner];
  }
  return same;
}

// Returns the number of wavefronts, counted byte by byte: which word of which bank each thread of a part touches.
int counted(const std::vector<std::int64_t>& elements, int lanes, Moves moves = Moves::load) {
  std::size_t part = lanes == 1 ? 32 : lanes == 2 ? 16 : 8;
  if (lanes == 4 && moves == Moves::load && (paired(elements, 1) || paired(elements, 2))) part = 16;
  int total = 0;
  for (std::size_t first = 0; first < elements.size(); first += part) {
    std::map<std::int64_t, std::set<std::int64_t>> words;
    for (std::size_t t = first; t < elements.size() && t < first + part; ++t)
      for (std::int64_t byte = elements[t] * 4; byte < (elements[t] + lanes) * 4; ++byte)
        words[byte / 4 % 32].insert(byte / 4);
    std::size_t fullest = 0;
    for (const auto& [bank, in_bank] : words) fullest = std::max(fullest, in_bank.size());
    total += static_cast<int>(fullest);
  }
  return total;
}

// Returns the highest number of wavefronts of all warps, register copies and loop iterations.
int worst(const Program& program, const Load& load, const Stage& stage, int lanes) {
  const Tile& tile = *program.body[0].as<Tile>();
  std::vector<Axis> threads, others;
  for (const Axis& axis : tile.axes) {
    if (axis.bind == Bind::thread) threads.push_back(axis);
    if (axis.bind == Bind::reg) others.push_back(axis);
  }
  for_each(tile.body, [&](const Stmt& stmt) {
    if (const auto* loop = stmt.as<Loop>()) others.push_back(loop->axis);
  });
  std::int64_t thread_count = 1, points = 1;
  for (const Axis& axis : threads) thread_count *= axis.extent;
  for (const Axis& axis : others) points *= axis.extent;
  const std::vector<Expr> index = physical_index(stage, load.index, {});
  const std::vector<std::int64_t> shape = physical_shape(stage);
  int result = 0;
  for (std::int64_t point = 0; point < points; ++point)
    for (std::int64_t first = 0; first < thread_count; first += 32) {
      std::vector<std::int64_t> elements;
      for (std::int64_t id = first; id < std::min(first + 32, thread_count); ++id) {
        Point values;
        for (const Axis& axis : tile.axes) values.emplace_back(axis.name, 0);
        std::int64_t rest = id;
        for (std::size_t i = threads.size(); i-- > 0; rest /= threads[i].extent)
          for (auto& [name, value] : values)
            if (name == threads[i].name) value = rest % threads[i].extent;
        rest = point;
        for (const Axis& axis : others) {
          std::erase_if(values, [&](const auto& entry) { return entry.first == axis.name; });
          values.emplace_back(axis.name, rest % axis.extent);
          rest /= axis.extent;
        }
        std::int64_t element = 0;
        for (std::size_t d = 0; d < shape.size(); ++d) element = element * shape[d] + evaluate(index[d], values);
        elements.push_back(element);
      }
      result = std::max(result, counted(elements, lanes));
    }
  return result;
}

struct Case {
  std::string axes, stage, index;
};

Program program_of(const Case& c, std::int64_t rows, std::int64_t columns) {
  return parse(
      fmt::format("=== tile: t ===\ninput x: f32[{0}, {1}]\noutput y: f32[4096, 64]\nTile(axes=({2})):\n"
                  "  x_smem = Stage(x, origin=(0, 0), slab=(s0:{0}@0, s1:{1}@1)){3}\n"
                  "  for k in 0..8: # reduce\n    in0 = load x_smem[{4}]\n    acc0 <- add(acc0, in0)\n"
                  "  y[0, 0] = acc0\n",
                  rows, columns, c.axes, c.stage, c.index));
}

rules::BankCost found(const Program& program) {
  for (const rules::WarpAccess& access : rules::warp_accesses(program, rules::Unrolled::as_marked))
    if (access.load != nullptr) return rules::bank_cost(access, *access.stage);
  ADD_FAILURE() << "no load";
  return {};
}

void compare(const Case& c, std::int64_t rows, std::int64_t columns, int lanes) {
  const Program program = program_of(c, rows, columns);
  const Tile& tile = *program.body[0].as<Tile>();
  const Stage& stage = *tile.body[0].as<Stage>();
  const Load& load = *tile.body[1].as<Loop>()->body[0].as<Load>();
  EXPECT_EQ(found(program).wavefronts, worst(program, load, stage, lanes)) << print(program);
}

template <class T>
T pick(std::mt19937& random, std::initializer_list<T> from) {
  return from.begin()[random() % from.size()];
}

TEST(Banks, OneWordABankIsOneWavefront) {
  std::vector<std::int64_t> words(32);
  const auto spread = [&](std::int64_t stride) {
    for (std::size_t t = 0; t < 32; ++t) words[t] = static_cast<std::int64_t>(t) * stride;
    return rules::wavefronts(words, 1, Moves::load);
  };
  EXPECT_EQ(spread(0), 1);  // a broadcast
  EXPECT_EQ(spread(1), 1);
  EXPECT_EQ(spread(17), 1);  // an odd stride touches every bank once
  EXPECT_EQ(spread(2), 2);
  EXPECT_EQ(spread(16), 16);
  EXPECT_EQ(spread(32), 32);
  EXPECT_EQ(spread(-1), 1);
}

TEST(Banks, WideAccessesAreServedInParts) {
  std::vector<std::int64_t> words(32);
  for (std::size_t t = 0; t < 32; ++t) words[t] = static_cast<std::int64_t>(t) * 4;
  EXPECT_EQ(rules::wavefronts(words, 4, Moves::load), 4);
  for (std::size_t t = 0; t < 32; ++t) words[t] = static_cast<std::int64_t>(t) * 8;  // the articles' strip of 8 words
  EXPECT_EQ(rules::wavefronts(words, 4, Moves::load), 8);
  EXPECT_EQ(rules::wavefronts(std::span(words).first(8), 4, Moves::load), 2);
  for (std::size_t t = 0; t < 32; ++t) words[t] = static_cast<std::int64_t>(t) * 2;
  EXPECT_EQ(rules::wavefronts(words, 2, Moves::load), 2);
}

// With threads distributed as […, n, m], the threads t and t ^ 1 share a column, and t and t ^ 2 share a row.
TEST(Banks, PairsThatShareAnAddressAreServedTwiceAsFast) {
  std::vector<std::int64_t> columns(32), rows(32), quads(32);
  for (std::size_t t = 0; t < 32; ++t) {
    columns[t] = static_cast<std::int64_t>(t / 2 % 8) * 4;
    rows[t] = static_cast<std::int64_t>(t / 16 * 2 + t % 2) * 4;
    quads[t] = static_cast<std::int64_t>(t / 4) * 4;
  }
  for (const auto& words : {columns, rows, quads}) {
    EXPECT_EQ(rules::wavefronts(words, 4, Moves::load), 2);
    EXPECT_EQ(rules::wavefronts(words, 4, Moves::store), 4);
  }
  columns[5] += 32;  // a single thread with another address is enough
  EXPECT_EQ(rules::wavefronts(columns, 4, Moves::load), 5);
  for (std::int64_t& word : rows) word *= 8;  // puts both rows of a half-warp in the same banks
  EXPECT_EQ(rules::wavefronts(rows, 4, Moves::load), 4);
}

// If iterations of an unrolled loop, or registers, read neighbours, they become one access, provided that rows are
// aligned and no condition guards the load.
TEST(Banks, NeighboursAreReadAtOnce) {
  const auto load_of = [](const std::string& mark, const std::string& layout, const std::string& index,
                          const std::string& guard = "") {
    const Program program = parse(
        "=== tile: t ===\ninput x: f32[64, 16]\noutput y: f32[64]\nTile(axes=(a0:16=THREAD, a1:4=REG)):\n"
        "  x_smem = Stage(x, origin=(0, 0), slab=(s0:64@0, s1:16@1))" +
        layout + "\n  for k in 0..12: # reduce" + mark + "\n" + (guard.empty() ? "" : "    " + guard + "\n  ") +
        "    in0 = load x_smem[" + index + "]\n" + (guard.empty() ? "" : "  ") +
        "    acc0 <- add(acc0, in0)\n  y[((a0 * 4) + a1)] = acc0\n");
    return found(program);
  };
  const std::string row = "((a0 * 4) + a1), k", column = "((a0 * 4) + k), a1";
  EXPECT_EQ(load_of(" unroll", "", row).lanes, 4);
  EXPECT_DOUBLE_EQ(load_of(" unroll", "", row).times, 12);  // 12 iterations with 4 rows each
  EXPECT_EQ(load_of("", "", row).lanes, 1);
  EXPECT_EQ(load_of(" unroll=2", "", row).lanes, 2);
  EXPECT_EQ(load_of(" unroll", " pad=4", row).lanes, 4);
  EXPECT_EQ(load_of(" unroll", " pad=2", row).lanes, 2);
  EXPECT_EQ(load_of(" unroll", " pad=1", row).lanes, 1);
  EXPECT_EQ(load_of(" unroll", "", "((a0 * 4) + a1), (k + 2)").lanes, 2);
  EXPECT_EQ(load_of(" unroll", "", "((a0 * 4) + a1), (k + 1)").lanes, 1);
  EXPECT_EQ(load_of(" unroll", "", "((a0 * 4) + k), (k + a1)").lanes, 1);
  EXPECT_EQ(load_of(" unroll", "", row, "if (k < 10):").lanes, 1);
  EXPECT_EQ(load_of("", "", column).lanes, 4);  // across registers
  EXPECT_DOUBLE_EQ(load_of("", "", column).times, 12);
}

TEST(Banks, RandomAccessesAsCounted) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const int lanes = pick(random, {1, 2, 4});
    std::vector<std::int64_t> elements(1 + random() % 32);
    for (std::int64_t& e : elements) e = static_cast<std::int64_t>(random() % 200);
    if (i % 2 == 0)
      for (std::size_t t = 2; t < elements.size(); ++t) elements[t] = elements[i % 4 == 0 ? t ^ (t & 1) : t ^ (t & 2)];
    for (const Moves moves : {Moves::load, Moves::store})
      ASSERT_EQ(rules::wavefronts(elements, lanes, moves), counted(elements, lanes, moves));
  }
}

TEST(Banks, RandomStridesAndPadsAsCounted) {
  std::mt19937 random(11);
  for (int i = 0; i < 150; ++i) {
    const int m = pick(random, {1, 3, 8, 16}), n = pick(random, {4, 5, 8, 16, 32}), f = pick(random, {1, 2, 3, 4, 8});
    const int lanes = pick(random, {1, 2, 4});
    const int pad = pick(random, {0, 0, 1, 3, 4, 8}), slots = pick(random, {1, 2});
    const std::string axes =
        fmt::format("a0:2=BLOCK, a1:{}=THREAD, a2:{}=THREAD, a3:{}=REG, a4:{}=VECTOR", m, n, f, lanes);
    const bool rows = random() % 2 == 0;  // whether the register tile walks rows or columns
    const std::string tile =
        rows ? fmt::format("((a2 * {}) + a3)", f) : fmt::format("((((a2 * {}) + a3) * {}) + a4)", f, lanes);
    const std::string other = random() % 2 == 0 ? "k" : "(k + a1)";
    const std::string slot = slots == 1 ? "" : "(k % 2), ";
    const std::string stage = (pad > 0 ? fmt::format(" pad={}", pad) : "") + (slots > 1 ? " buffers=2@0" : "");
    const Case c = {axes, stage, slot + (rows ? tile + ", " + other : other + ", " + tile)};
    compare(c, rows ? n * f : 24, rows ? 24 : n * f * lanes, rows ? 1 : lanes);
  }
}

TEST(Banks, RandomPanelsAndSwizzlesAsCounted) {
  std::mt19937 random(13);
  for (int i = 0; i < 60; ++i) {
    const int swizzle = pick(random, {0, 32, 64, 128}), panel = swizzle > 0 ? swizzle / 4 : pick(random, {4, 8, 16});
    const int m = pick(random, {2, 4, 8}), n = pick(random, {8, 16}), lanes = pick(random, {1, 2, 4});
    const std::string axes = fmt::format("a1:{}=THREAD, a2:{}=THREAD, a3:2=REG, a4:{}=VECTOR", m, n, lanes);
    const std::string stage = swizzle > 0 ? fmt::format(" panel={} swizzle={} tma", panel, swizzle)
                                          : fmt::format(" panel={} pad={}", panel, pick(random, {1, 4}));
    const bool rows = random() % 2 == 0;
    const Case c = {
        axes, stage,
        rows ? "((a2 * 2) + a3), ((k * 4) + a1)" : fmt::format("k, (((a3 * {}) + a2) * {} + a4)", n, lanes)};
    const int columns = rows ? 64 : std::max(2 * n * lanes, panel);
    compare(c, rows ? 2 * n : 8, columns, rows ? 1 : lanes);
  }
}

TEST(Banks, RepeatedSamplesCostNothing) {
  // Warps that differ in a1 read the same columns.
  const Program program =
      program_of({"a1:16=THREAD, a2:16=THREAD", " panel=16 swizzle=64 tma", "k, ((a2 * 4) % 61)"}, 8, 64);
  const std::vector<rules::WarpAccess> all = rules::warp_accesses(program, rules::Unrolled::all);
  const std::vector<rules::WarpAccess> distinct = rules::without_repeats(all);
  ASSERT_EQ(all.size(), distinct.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_LT(distinct[i].samples.size(), all[i].samples.size());
    for (const std::int64_t swizzle : {0, 32, 64, 128}) {
      Stage layout = *all[i].stage;
      layout.swizzle = swizzle;
      layout.panel = swizzle / 4;
      const rules::BankCost one = rules::bank_cost(all[i], layout), other = rules::bank_cost(distinct[i], layout);
      EXPECT_EQ(one.wavefronts, other.wavefronts);
      EXPECT_EQ(one.min_wavefronts, other.min_wavefronts);
    }
    const std::string& buffer = all[i].stage->buffer;
    EXPECT_EQ(rules::warp_accesses(program, rules::Unrolled::all, buffer).front().samples, all[i].samples);
  }
}

// materialize distributes the copies of a fill like this: each thread makes the copies id, id + threads, … along the
// rows.
TEST(Banks, FillsAsCounted) {
  for (const int lanes : {1, 2, 4})
    for (const int pad : {0, 4})
      for (const int columns : {16, 24, 64}) {
        const Case c = {"a1:4=THREAD, a2:16=THREAD", fmt::format("{} lanes={}", pad > 0 ? " pad=4" : "", lanes),
                        "k, a2"};
        const Program program = program_of(c, 16, columns);
        const std::vector<rules::WarpAccess> all = rules::warp_accesses(program, rules::Unrolled::as_marked);
        ASSERT_EQ(all[0].load, nullptr);
        int expected = 0;
        const int copies = 16 * columns / lanes;
        for (int first = 0; first < copies; first += 32) {
          std::vector<std::int64_t> elements;
          for (int f = first; f < std::min(first + 32, copies); ++f)
            elements.push_back(f * lanes / columns * (columns + pad) + f * lanes % columns);
          expected = std::max(expected, counted(elements, lanes, Moves::store));
        }
        EXPECT_EQ(rules::bank_cost(all[0], *all[0].stage).wavefronts, expected) << print(program);
        EXPECT_DOUBLE_EQ(all[0].times, copies / 64.0);
      }
}

// All threads share a sweep: each thread's loop starts at the thread's index.
TEST(Banks, SweepsAreContiguous) {
  const Program program = parse(
      "=== tile: t ===\ninput x: f32[1, 512]\noutput y: f32[64]\nTile(axes=(a0:64=THREAD)):\n"
      "  x_smem = Stage(x, origin=(0, 0), slab=(s0:1@0, s1:512@1))\n"
      "  StridedLoop(a1 = a0; < 512; += 64): # reduce\n    in0 = load x_smem[0, a1]\n    acc0 <- add(acc0, in0)\n"
      "  y[a0] = acc0\n");
  const std::vector<rules::WarpAccess> all = rules::warp_accesses(program, rules::Unrolled::as_marked);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(rules::bank_cost(all[1], *all[1].stage).wavefronts, 1);
  EXPECT_DOUBLE_EQ(all[1].times, 8);
}

TEST(Banks, PhysicalOffsetIsTheLayout) {
  std::mt19937 random(5);
  for (int i = 0; i < 100; ++i) {
    Stage stage;
    stage.slab = {{"s0", 3, 0}, {"s1", 8, 1}, {"s2", 64, 2}};
    stage.swizzle = pick(random, {0, 0, 32, 64, 128});
    stage.panel = stage.swizzle > 0 ? stage.swizzle / 4 : pick<std::int64_t>(random, {0, 4, 32});
    stage.pad = stage.swizzle > 0 ? 0 : pick<std::int64_t>(random, {0, 1, 4});
    const std::vector<std::int64_t> at = {static_cast<std::int64_t>(random() % 3),
                                          static_cast<std::int64_t>(random() % 8),
                                          static_cast<std::int64_t>(random() % 64)};
    const std::vector<Expr> place = physical_index(stage, {at[0], at[1], at[2]}, {});
    std::int64_t expected = 0;
    const std::vector<std::int64_t> shape = physical_shape(stage);
    for (std::size_t d = 0; d < shape.size(); ++d) expected = expected * shape[d] + evaluate(place[d], {});
    EXPECT_EQ(rules::physical_offset(stage, at), expected);
  }
}

}  // namespace
}  // namespace deplo::ir::banks_test
