// Tile programs from files, launched on arrays with awkward extents.
#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "rules/trails/tile_case.h"

namespace deplo::rules {
namespace {

namespace tp = ir::tile_program;
using ir::DType;

tp::Program read_example(const std::string& name) {
  const std::filesystem::path root(DEPLO_SOURCE_DIR);
  for (const auto& file :
       {root / "experiments" / "tile" / (name + ".tile"), root / "experiments" / "tile" / "exported" / (name + ".tile"),
        root / "experiments" / "tile" / "exported" / (name + ".tileirbc"),
        tp::shared_programs() / (name + ".tileirbc")})
    if (std::filesystem::exists(file)) return tp::read_file_program(file);
  throw Error("no tile program is called " + name);
}

/// Passes a matrix whose rows are a multiple of 8 elements apart.
void matrix(Launch& launch, const std::string& name, DType element, std::int64_t rows, std::int64_t columns) {
  launch.array(name, element, {rows, columns}, pitch(columns));
}

Launch vectors(std::int64_t n, std::int64_t tile) {
  Launch launch;
  for (const char* name : {"a", "b", "c"}) launch.array(name, DType::f32, {n});
  return launch.grid({tiles(n, tile), 1, 1});
}

Launch matrices(std::int64_t m, std::int64_t n, Grid grid) {
  Launch launch;
  for (const char* name : {"a", "b", "c"}) matrix(launch, name, DType::f32, m, n);
  return launch.grid(grid);
}

Launch product(DType in, DType out, std::int64_t m, std::int64_t n, std::int64_t k, Grid grid) {
  Launch launch;
  matrix(launch, "a", in, m, k);
  matrix(launch, "b", in, k, n);
  matrix(launch, "c", out, m, n);
  return launch.grid(grid);
}

Launch attention(std::int64_t heads, std::int64_t group, std::int64_t queries, std::int64_t keys, std::int64_t size,
                 std::int64_t offset, std::int64_t tile) {
  Launch launch;
  launch.array("q", DType::f16, {1, heads, queries, size});
  for (const char* name : {"k", "v"}) launch.array(name, DType::f16, {1, heads / group, keys, size});
  launch.array("out", DType::f16, {1, heads, queries, size}).scalar(0.25).scalar(offset);
  return launch.grid({tiles(queries, tile), heads, 1});
}

Launch experts(std::int64_t tokens, std::int64_t topk, std::int64_t count, std::int64_t n, std::int64_t k) {
  std::vector<std::int64_t> expert;
  for (std::int64_t i = 0; i < tokens * topk; ++i) expert.push_back((i * 7 + i / 3) % count);
  const tp::Routing routing = tp::route(expert, count, 128);
  Launch launch;
  matrix(launch, "A", DType::f16, tokens, k);
  launch.array("B", DType::f16, {count, n, k}, pitch(k));
  matrix(launch, "C", DType::f16, tokens * topk, n);
  launch.array("topk_weights", DType::f16, {tokens * topk});
  launch.numbers("sorted_token_ids", routing.ids).numbers("sorted_expert_ids", routing.experts).scalar(topk);
  return launch.grid({tiles(std::ssize(routing.ids), 128) * tiles(n, 128), 1, 1});
}

/// Returns the kind for the program of one file. `launch` makes the arguments of its launch.
template <class MakeLaunch>
TileKind of_file(const std::string& name, std::vector<std::pair<std::string, std::int64_t>> symbols, double tolerance,
                 MakeLaunch launch) {
  return {name, std::move(symbols), TileKind::Raised::always, 1, false, [=](const ir::Symbols& s, std::uint64_t) {
            return TileSubject{read_example(name), launch([&](const char* symbol) { return s.at(symbol); }), tolerance};
          }};
}

void add_examples(std::vector<TileKind>& kinds) {
  kinds.push_back(of_file("vector_add", {}, of_f32, [](auto) {
    Launch launch;
    for (const char* name : {"a", "b", "c"}) launch.pointer(name, DType::f32, {128});
    return launch;
  }));
  kinds.push_back(of_file("saxpy", {{"M", 257}, {"N", 257}}, of_f32, [](auto s) {
    Launch launch;
    launch.pointer("X", DType::f32, {s("M"), s("N")}).pointer("Y", DType::f32, {s("M"), s("N")});
    return launch.scalar(1.5).scalar(s("M")).scalar(s("N")).grid({tiles(s("M"), 128), tiles(s("N"), 256), 1});
  }));
  kinds.push_back(of_file("gemm_block", {}, of_f32, [](auto) {
    Launch launch;
    for (const char* name : {"A", "B", "C"}) launch.pointer(name, DType::f32, {64, 64});
    return launch;
  }));
  kinds.push_back(of_file("gemm_views", {{"M", 16}, {"N", 16}, {"K", 13}}, of_f32, [](auto s) {
    const std::int64_t m = 8 * s("M"), n = 8 * s("N"), k = 8 * s("K");  // strides are multiples of 8
    Launch launch;
    launch.pointer("A", DType::f16, {k, m}).pointer("B", DType::f16, {n, k}).pointer("C", DType::f32, {m, n});
    launch.scalar(m).scalar(n).scalar(k).scalar(m).scalar(k).scalar(n);
    return launch.grid({tiles(m, 128), tiles(n, 128), 1});
  }));
}

void add_exported(std::vector<TileKind>& kinds) {
  for (const char* name : {"scale_13.1", "scale_13.2", "scale_13.3", "scale_13.4"})
    kinds.push_back(of_file(name, {{"N", 509}}, of_f16, [](auto s) {
      Launch launch;
      launch.array("x", DType::f16, {s("N")}).array("y", DType::f16, {s("N")});
      return launch.scalar(0.75).grid({tiles(s("N"), 128), 1, 1});
    }));
  kinds.push_back(of_file("softmax", {{"M", 33}, {"N", 64}}, of_f32, [](auto s) {
    Launch launch;
    for (const char* name : {"x", "y"}) matrix(launch, name, DType::f32, s("M"), s("N"));
    return launch.grid({s("M"), 1, 1});
  }));
  kinds.push_back(of_file("swap_quarters", {}, 0, [](auto) {
    Launch launch;
    return launch.array("x", DType::f32, {8, 8}).array("y", DType::f32, {8, 8});
  }));
  kinds.push_back(of_file("chunked_softmax", {{"M", 13}, {"N", 257}}, of_f32, [](auto s) {
    Launch launch;
    for (const char* name : {"x", "y"}) matrix(launch, name, DType::f32, s("M"), s("N"));
    return launch.grid({s("M"), 1, 1});
  }));
  kinds.push_back(of_file("transpose", {{"M", 100}, {"N", 100}}, 0, [](auto s) {
    Launch launch;
    matrix(launch, "x", DType::f32, s("M"), s("N"));
    matrix(launch, "y", DType::f32, s("N"), s("M"));
    return launch.grid({tiles(s("M"), 16), tiles(s("N"), 16), 1});
  }));
  kinds.push_back(of_file("matmul", {{"M", 33}, {"N", 64}, {"K", 61}}, of_f32, [](auto s) {
    return product(DType::bf16, DType::f32, s("M"), s("N"), s("K"), {tiles(s("M"), 16), tiles(s("N"), 32), 1});
  }));
  kinds.push_back(of_file("persistent_matmul", {{"M", 61}, {"N", 64}, {"K", 33}}, of_f16, [](auto s) {
    return product(DType::f16, DType::f16, s("M"), s("N"), s("K"), {4, 1, 1});
  }));
  kinds.push_back(of_file("batched_matmul", {{"B", 3}, {"M", 33}, {"N", 64}, {"K", 33}}, of_f16, [](auto s) {
    Launch launch;
    launch.array("a", DType::f16, {s("B"), s("M"), s("K")}, pitch(s("K")));
    launch.array("b", DType::f16, {s("B"), s("K"), s("N")}, pitch(s("N")));
    launch.array("c", DType::f16, {s("B"), s("M"), s("N")}, pitch(s("N")));
    return launch.grid({s("B"), tiles(s("M"), 16), tiles(s("N"), 32)});
  }));
  for (const char* name : {"triangular_matmul", "banded_matmul"})
    kinds.push_back(of_file(name, {{"M", 61}, {"N", 33}}, of_f32, [](auto s) {
      return product(DType::f32, DType::f32, s("M"), s("N"), s("M"), {tiles(s("M"), 16), tiles(s("N"), 16), 1});
    }));
  kinds.push_back(of_file("column_sums", {{"M", 61}, {"N", 100}}, of_f32, [](auto s) {
    Launch launch;
    matrix(launch, "x", DType::f32, s("M"), s("N"));
    return launch.array("y", DType::f32, {s("N")}).grid({tiles(s("N"), 32), 1, 1});
  }));
  kinds.push_back(of_file("layer_norm_backward", {{"M", 13}, {"N", 128}}, of_f16, [](auto s) {
    Launch launch;
    for (const char* name : {"dx", "dy", "x"}) matrix(launch, name, DType::f16, s("M"), s("N"));
    launch.array("weight", DType::f16, {s("N")}).array("mean", DType::f32, {s("M")});
    return launch.array("rstd", DType::f32, {s("M")}).grid({s("M"), 1, 1});
  }));
  kinds.push_back(of_file("gather_rows", {{"R", 33}, {"M", 61}}, 0, [](auto s) {
    Launch launch;
    launch.pointer("x", DType::f16, {s("R"), 16}).pointer("id", DType::i32, {s("M")});
    launch.pointer("y", DType::f32, {s("M"), 16}).scalar(s("R")).scalar(s("M"));
    return launch.grid({tiles(s("M"), 8), 1, 1});
  }));
}

void add_attentions(std::vector<TileKind>& kinds) {
  kinds.push_back(of_file("attention_causal", {{"N", 64}}, of_f16,
                          [](auto s) { return attention(2, 1, s("N"), s("N"), 16, 0, 16); }));
  kinds.push_back(of_file("attention_grouped", {{"M", 33}, {"N", 64}}, of_f16,
                          [](auto s) { return attention(4, 2, s("M"), s("N"), 16, 0, 16); }));
  kinds.push_back(of_file("attention_offset", {{"M", 33}, {"N", 64}}, of_f16, [](auto s) {
    return attention(3, 3, s("M"), s("M") + s("N"), 16, std::min<std::int64_t>(s("N"), 40), 8);
  }));
  kinds.push_back(of_file("attention_with_lse", {{"M", 33}, {"N", 64}}, of_f16, [](auto s) {
    Launch launch;
    launch.array("q", DType::f16, {s("M"), 16});
    for (const char* name : {"k", "v"}) launch.array(name, DType::f16, {s("N"), 16});
    launch.array("out", DType::f16, {s("M"), 16}).array("lse", DType::f32, {s("M")});
    return launch.scalar(0.25).grid({tiles(s("M"), 16), 1, 1});
  }));
}

void add_shared(std::vector<TileKind>& kinds) {
  for (const char* name : {"00_vec_add_kernel_1d", "02_vec_add_kernel_1d_gather"})
    kinds.push_back(of_file(name, {{"N", 509}}, of_f32, [](auto s) { return vectors(s("N"), 1024); }));
  for (const char* name : {"01_vec_add_kernel_2d", "03_vec_add_kernel_2d_gather"})
    kinds.push_back(of_file(name, {{"M", 64}, {"N", 128}}, of_f32, [](auto s) {
      return matrices(s("M"), s("N"), {tiles(s("M"), 32), tiles(s("N"), 64), 1});
    }));
  kinds.push_back(of_file("05_matmul_kernel", {{"M", 61}, {"N", 100}, {"K", 61}}, of_f16, [](auto s) {
    return product(DType::f16, DType::f16, s("M"), s("N"), s("K"), {tiles(s("M"), 128) * tiles(s("N"), 256), 1, 1});
  }));
  kinds.push_back(of_file("08_layer_norm_fwd", {{"M", 7}, {"N", 509}}, of_f16, [](auto s) {
    Launch launch;
    matrix(launch, "X", DType::f16, s("M"), s("N"));
    launch.array("W", DType::f16, {s("N")}).array("B", DType::f16, {s("N")});
    matrix(launch, "Y", DType::f16, s("M"), s("N"));
    launch.array("Mean", DType::f32, {s("M")}).array("Rstd", DType::f32, {s("M")});
    return launch.scalar(1e-5).grid({s("M"), 1, 1});
  }));
  kinds.push_back(of_file("11_fmha_kernel", {{"N", 61}}, of_f16,
                          [](auto s) { return attention(1, 1, s("N"), s("N"), 64, 0, 128); }));
  kinds.push_back(of_file("13_fused_moe_kernel", {{"T", 31}, {"E", 4}, {"N", 4}, {"K", 33}}, of_f16, [](auto s) {
    return experts(s("T"), 2, s("E"), 8 * s("N"), s("K"));  // rows without gaps, which a scatter requires
  }));
}

std::vector<TileKind> stored_tile_kinds() {
  std::vector<TileKind> kinds;
  add_examples(kinds);
  add_exported(kinds);
  add_attentions(kinds);
  return kinds;
}

/// Adds the prefix `tile/` to the names, because a kernel may have the same name as a program.
std::vector<TileKind> with_prefix(std::vector<TileKind> kinds) {
  for (TileKind& kind : kinds) kind.name = "tile/" + kind.name;
  return kinds;
}

}  // namespace

const std::vector<TileKind>& tile_kinds() {
  static const std::vector<TileKind> kinds = [] {
    std::vector<TileKind> all = drawn_tile_kinds();
    std::ranges::move(stored_tile_kinds(), std::back_inserter(all));
    return with_prefix(std::move(all));
  }();
  return kinds;
}

const std::vector<TileKind>& shared_tile_kinds() {
  static const std::vector<TileKind> kinds = [] {
    std::vector<TileKind> shared;
    if (!tp::shared_programs().empty()) add_shared(shared);
    return with_prefix(std::move(shared));
  }();
  return kinds;
}

const TileKind* find_tile_kind(std::string_view name) {
  for (const auto* kinds : {&tile_kinds(), &shared_tile_kinds()})
    if (const auto found = std::ranges::find(*kinds, name, &TileKind::name); found != kinds->end()) return &*found;
  return nullptr;
}

}  // namespace deplo::rules
