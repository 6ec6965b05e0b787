// Inputs that become graphs: exported programs, and texts of the command line.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "apps/inspect/space.h"
#include "apps/run/run.h"
#include "attack/kinds.h"
#include "attack/mutate.h"
#include "core/progress.h"
#include "engine/source/graph.h"
#include "engine/source/values.h"
#include "ir/torch/pt2_file.h"
#include "rules/programs.h"

namespace deplo::attack {
namespace {

namespace fs = std::filesystem;

constexpr double max_steps = 2e5;  // steps of the interpreter: a tenth of a second

/// Damages one entry of the archive, or an entry of an archive inside that entry. The zip itself stays whole.
void damage_entry(tests::Entries& entries, const std::string& other, Rng& rng, const fs::path& folder) {
  auto& [name, bytes] = entries[rng.below(entries.size())];
  if (rng.below(20) == 0) name = mutate(name, other.substr(0, 100), rng);
  if (name.find('\0') != std::string::npos || name.empty()) name = "x";  // libzip refuses such names
  if (name.ends_with(".pt") && rng.below(4) != 0 && !bytes.empty()) {
    const fs::path nested = folder / "nested.zip";
    tests::write(nested, bytes);
    tests::Entries inside = tests::unpack(nested);
    if (!inside.empty()) {
      auto& inner = inside[rng.below(3) == 0 ? rng.below(inside.size()) : 0];  // the pickle is the first entry
      inner.second = mutate(inner.second, other, rng);
      tests::pack(nested, inside);
      bytes = read_bytes(nested);
    }
    fs::remove(nested);
  } else {
    bytes = mutate(bytes, other, rng);
  }
}

std::string damage_archive(const Seed& seed, const std::string& other, Rng& rng, const fs::path& folder) {
  if (rng.below(4) == 0) return mutate(seed.bytes, other, rng);
  const fs::path file = folder / "damaged.zip", donor = folder / "donor.zip";
  tests::write(file, seed.bytes);
  tests::write(donor, other);
  tests::Entries entries = tests::unpack(file), donors = tests::unpack(donor);
  const std::string material = donors[rng.below(donors.size())].second;
  damage_entry(entries, material, rng, folder);
  if (rng.below(20) == 0) entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(rng.below(entries.size())));
  tests::Entries unique;  // libzip refuses equal names
  for (auto& [name, bytes] : entries)
    if (std::ranges::find(unique, name, &tests::Entries::value_type::first) == unique.end())
      unique.emplace_back(name, std::move(bytes));
  tests::pack(file, unique, rng.below(2) == 0);
  std::string bytes = read_bytes(file);
  fs::remove(file);
  fs::remove(donor);
  return bytes;
}

std::vector<Command> graph_commands(const std::string& flag) {
  return {{{"compile", flag, "FILE"}},
          {{"compile", flag, "FILE", "--ir", "loop", "--summary"}, 4},
          {{"compile", flag, "FILE", "--ir", "torch"}, 8},
          {{"compile", flag, "FILE", "--ir", "tensor", "--passes", "d"}, 8},
          {{"compile", flag, "FILE", "--ir", "cuda", "--target", "sm_90"}, 8}};
}

constexpr std::array expressions = {
    "nn.RMSNorm(64)(torch.randn(1, 4, 64))",
    "torch.nn.Linear(16, 32, bias=False)(torch.randn(8, 16))",
    "x = torch.randn(4, 94); 0.5 * x * (1 + torch.tanh(0.797 * (x + 0.044 * x * x * x)))",
    "torch.exp(torch.neg(torch.randn(16))[5:8])",
    "F.softmax(torch.randn(4, 8), dim=-1)",
    "torch.matmul(torch.randn(1, 3, 20), torch.randn(20, 7))",
    "x = torch.randn(4, 8)\nm = x.max(dim=-1, keepdim=True)\ne = torch.exp(x - m)\ne / e.sum(dim=-1, keepdim=True)",
    "class MLP(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.up = torch.nn.Linear(16, 24, bias=False)\n        self.down = nn.Linear(24, 16)\n"
    "    def forward(self, x):\n        return self.down(F.silu(self.up(x)))\n\nMLP()(torch.randn(5, 16))\n",
    "q = torch.randn(1, 4, 7, 16); a, b = q.chunk(2, dim=-1); torch.cat((-b, a), dim=-1).transpose(1, 2).reshape(1, 7, "
    "-1)",
    "x = torch.randn(4, 6, 8); x[..., None, 1:-1:2, 0], x[:, 3] ** 2",
    "m = torch.tril(torch.ones(5, 5)).bool(); s = torch.randn(2, 5, 5).masked_fill(~m, float('-inf')); torch.where(m, "
    "s, 0.0)",
    "F.scaled_dot_product_attention(torch.randn(1, 4, 5, 8), torch.randn(1, 2, 5, 8), torch.randn(1, 2, 5, 8), "
    "is_causal=True, enable_gqa=True)",
    "x = torch.randint(0, 9, (3,)); nn.Embedding(9, 4)(x).var(-1, unbiased=False)",
    "nn.Sequential(nn.Linear(3, 8), nn.GELU(approximate='tanh'), nn.LayerNorm((8,)))(torch.rand(2, 3)).unbind(0)",
    "s = (2, 3); x = torch.zeros(4, *s); y = x.view(-1, s[1]); y += 7 % 3 + 2 ** -1; (y > 0) & (y != 1.5e-3) | (y <= "
    "y)",
    "x = torch.randn(3, 4); *x.split([1, 2]), torch.stack([x, x], dim=1), x.T @ x, x.flatten(), x.clamp(min=0)",
    "torch.arange(0, 8, 2, dtype=torch.float32).unsqueeze(-1).expand(-1, 3).repeat_interleave(2, dim=0)",
    "x = torch.randn(2, 3)\nF.layer_norm(x, (3,), weight=torch.full((3,), 0.5), bias=None, eps=1e-6).exp().mean()"};

std::vector<std::string> with_sizes(std::vector<std::string> words) {
  words.insert(words.begin() + 1, {"-k", "matmul", "-s", "M=33", "-s", "N=47", "-s", "K=61"});
  return words;
}

void add_trails(std::vector<Seed>& seeds) {
  for (const auto& [target, ir] : {std::pair("opencl-cpu", "opencl"), {"opencl-gpu", "opencl"}, {"sm_90", "cuda"}}) {
    apps::SpaceOptions options;
    options.selection.source = {engine::LoopKernel{"matmul", {{"M", 33}, {"N", 47}, {"K", 61}}, "--kernel"}};
    options.target = target;
    options.sample = 3;
    std::istringstream trails(apps::sample(options, engine::load(options.selection, {})));
    for (std::string trail; std::getline(trails, trail);)
      seeds.push_back(
          {"schedule.trail",
           trail,
           {{with_sizes({"compile", "--target", target, "--ir", ir, "--schedule", "TEXT"})},
            {with_sizes({"compile", "--target", target, "--ir", "tile", "-vv", "--schedule", "TEXT"}), 8}}});
  }
  for (const char* restriction : {"chunk_matmul_k.bk=16,32", "mark_unroll.*=1,4", "blockify_launch.*=heuristic,64"})
    seeds.push_back(
        {"knobs.restrict", restriction, {{with_sizes({"space", "--probes", "3", "--json", "--restrict", "TEXT"})}}});
}

/// Returns false if a weight is NaN, huge or tiny. Such damaged weights overflow in f32 where the reference, in double,
/// does not; that difference is not a fault.
bool is_moderate(const ir::torch::Graph& graph) {
  for (const ir::torch::Node& node : graph.nodes) {
    if (node.kind != ir::torch::Node::Kind::parameter) continue;
    for (const float value : engine::source_values(node.source, node.name, node.type, 0))
      if (!(std::abs(value) <= 1e4F) || (value != 0 && std::abs(value) < 1e-6F)) return false;
  }
  return true;
}

}  // namespace

std::string check_graph(const Source& source) {
  engine::Source file;
  if (!source.pt2.empty()) file = {engine::Pt2File{source.pt2}};
  if (!source.expression.empty()) file = {engine::ExpressionFile{source.expression}};
  apps::RunOptions options;
  options.source = file;
  options.device = "interpreter";
  const ir::torch::Graph graph = engine::read_graph(file);
  double steps = 0;
  const ir::Module module = engine::lower_by_trail(graph, {}, {}).value().module;
  for (const ir::Program& kernel : module.kernels) {
    steps += rules::lane_steps(kernel);
    for (const ir::Buffer& buffer : kernel.buffers) steps += static_cast<double>(ir::span(buffer));
  }
  if (!(steps < max_steps) || !is_moderate(graph)) return "";
  Progress progress(stderr, true);
  for (const apps::OutputCheck& output : apps::run(options, progress).outputs)
    if (!output.right) return fmt::format("output {} is wrong by {}: {}", output.name, output.error, output.worst);
  return "";
}

Kind exported_programs() {
  Kind kind{"pt2", {}, damage_archive};
  for (const fs::path& file : tests::fixtures()) {
    const std::string name = file.filename();
    if (name.starts_with("llama")) continue;  // large, and exported in the same way as the others
    kind.seeds.push_back({"program.pt2", read_bytes(file), graph_commands("--pt2"), [](const fs::path& damaged) {
                            return check_graph({damaged, ""});
                          }});
  }
  return kind;
}

Kind texts() {
  Kind kind{"text", {}, [](const Seed& seed, const std::string& other, Rng& rng, const fs::path&) {
              return mutate(seed.bytes, other, rng);
            }};
  for (const char* expression : expressions)
    kind.seeds.push_back({"expression.py", expression, graph_commands("--file"), [](const fs::path& damaged) {
                            return check_graph({"", damaged});
                          }});
  add_trails(kind.seeds);
  return kind;
}

}  // namespace deplo::attack
