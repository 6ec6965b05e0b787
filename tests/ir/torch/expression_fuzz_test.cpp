// Mutated expressions give a graph or an Error with a place. They never crash, and they end soon.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "ir/torch/expression/expression.h"

namespace deplo::ir::torch {
namespace {

constexpr std::size_t texts = 10'000;
constexpr std::uint64_t seed = 20'240'611;

constexpr std::array<std::string_view, 22> valid_texts = {
    "nn.RMSNorm(2048)(torch.randn(1,32,2048))",
    "torch.nn.Linear(64,256,bias=False)(torch.randn(8,64))",
    "x=torch.randn(32,18944);0.5*x*(1+torch.tanh(0.797*(x+0.044*x*x*x)))",
    "torch.exp(torch.neg(torch.randn(16))[5:8])",
    "torch.exp(torch.randn(4,8).sum(-1,True))",
    "F.softmax(torch.randn(4, 8), dim=-1)",
    "a=torch.randn(1,32,2048);b=torch.randn(2048,5632);torch.matmul(a,b)",
    "torch.nn.Softmax(dim=-1)(torch.randn(1, 28, 2048, 2048))",
    "x = torch.randn(4, 8)\nmx = x.max(dim=-1, keepdim=True) # reduce\ne = torch.exp(x - mx)\ne / e.sum(dim=-1, "
    "keepdim=True)",
    "\nclass MLP(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.up = "
    "torch.nn.Linear(64, "
    "256, bias=False)\n        self.down = torch.nn.Linear(256, 64, bias=False)\n    def forward(self, x):\n        "
    "return "
    "self.down(self.up(x))\n\nMLP()(torch.randn(8, 64))",
    "def gelu(x, k=0.044715):\n  return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + k * x * x * "
    "x)))\ngelu(torch.randn(4), k=1)",
    "q = torch.randn(1, 4, 7, 16); a, b = q.chunk(2, dim=-1); torch.cat((-b, a), dim=-1).transpose(1, 2).reshape(1, 7, "
    "-1)",
    "x = torch.randn(4,6,8); x[..., None, 1:-1:2, 0], x[:, 3] ** 2",
    "m = torch.tril(torch.ones(5, 5)).bool(); s = torch.randn(2, 5, 5).masked_fill(~m, float('-inf')); torch.where(m, "
    "s, 0.0)",
    "F.scaled_dot_product_attention(torch.randn(1,4,5,8), torch.randn(1,2,5,8), torch.randn(1,2,5,8), is_causal=True, "
    "enable_gqa=True)",
    "import torch.nn as nn\nfrom torch import float16\nx = torch.randint(0, 9, (3,)); nn.Embedding(9, "
    "4)(x).to(float16).var(-1, unbiased=False)",
    "nn.Sequential(nn.Linear(3, 8), nn.GELU(approximate='tanh'), nn.LayerNorm((8,)))(torch.rand(2, 3)).unbind(0)",
    "s = (2, 3); x = torch.zeros(4, *s); y = x.view(-1, s[1]); y += 7 % 3 + 2 ** -1; (y > 0) & (y != 1.5e-3) | (y <= "
    "y)",
    "class A(nn.Module):\n  def __init__(self, n):\n    super(A, self).__init__()\n    self.l = "
    "nn.ModuleList([nn.SiLU()])\n    "
    "self.w = nn.Parameter(torch.ones(n))\n  def forward(self, x): return self.l[0](x) * "
    "self.w\nA(n=4).eval()(torch.randn(4))",
    "x = torch.randn(3, 4); *x.split([1, 2]), torch.stack([x, x], dim=1), x.T @ x, x.flatten(), x.clamp(min=0)",
    "torch.arange(0, 8, 2, dtype=torch.float32).unsqueeze(-1).expand(-1, math.floor(3.7)).repeat_interleave(2, dim=0)",
    "x = torch.randn(2, 3)\nw = torch.full((3,), 0.5)\nF.layer_norm(x, (3,), weight=w, bias=None, "
    "eps=1e-6).mean().unsqueeze(0)"};

constexpr std::array<std::string_view, 34> words = {"9223372036854775807",
                                                    "-1",
                                                    "99999999999999999999",
                                                    "1e308",
                                                    "1e999",
                                                    "1099511627776",
                                                    "0",
                                                    "(",
                                                    ")",
                                                    "[",
                                                    "]",
                                                    ",",
                                                    ";",
                                                    "\n",
                                                    "\n    ",
                                                    "\t",
                                                    "\\\n",
                                                    "#",
                                                    "'",
                                                    "\"\"\"",
                                                    "**",
                                                    "*",
                                                    ":",
                                                    "...",
                                                    "None",
                                                    "x",
                                                    "self",
                                                    "torch",
                                                    "=",
                                                    "def f(x): return f(x)\n",
                                                    "\xff",
                                                    "lambda",
                                                    "for",
                                                    "torch.randn(1)"};

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

struct Range {
  std::size_t at = 0, length = 0;
};

// Returns a word, a number or a sign at or after a random position.
Range token(const std::string& text, Rng& rng) {
  const std::size_t at = text.find_first_not_of(" \n", rng.below(text.size() + 1));
  if (at == std::string::npos) return {};
  const bool word = letters.find(text[at]) != std::string_view::npos;
  return {at, word ? std::min(text.find_first_not_of(letters, at), text.size()) - at : 1};
}

// Replaces a number by another one, which keeps most expressions readable.
void mutate_number(std::string& text, Rng& rng) {
  const std::size_t at = text.find_first_of("0123456789", rng.below(text.size() + 1));
  if (at == std::string::npos) return;
  const std::size_t length = std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
  text.replace(at, length, std::to_string(rng.below(rng.below(2) == 0 ? 5 : 3000)));
}

void mutate_token(std::string& text, Rng& rng) {
  const Range a = token(text, rng), b = token(text, rng);
  const std::string one = text.substr(a.at, a.length), other = text.substr(b.at, b.length);
  switch (rng.below(4)) {
    case 0:  // delete
      text.erase(a.at, a.length);
      break;
    case 1:  // duplicate
      text.insert(a.at, one);
      break;
    case 2:  // copy
      text.replace(a.at, a.length, other);
      break;
    default:  // swap; the later token is replaced first
      text.replace(std::max(a.at, b.at), a.at < b.at ? b.length : a.length, a.at < b.at ? one : other);
      if (a.at != b.at)
        text.replace(std::min(a.at, b.at), a.at < b.at ? a.length : b.length, a.at < b.at ? other : one);
      break;
  }
}

void mutate_bytes(std::string& text, Rng& rng) {
  const std::size_t at = rng.below(text.size() + 1);
  switch (rng.below(5)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << rng.below(8)));
      break;
    case 1:
      text.insert(at, words[rng.below(words.size())]);
      break;
    case 2: {
      const Range t = token(text, rng);
      text.replace(t.at, t.length, words[rng.below(words.size())]);
      break;
    }
    case 3:
      text.erase(at, rng.below(12));
      break;
    default:
      text.resize(at);
      break;
  }
}

std::string mutate(std::string text, Rng& rng) {
  for (std::uint64_t edits = 1 + rng.below(2); edits > 0; --edits) {
    const std::string_view other = valid_texts[rng.below(valid_texts.size())];
    switch (rng.below(8)) {
      case 0:  // splice
        text.insert(rng.below(text.size() + 1), other.substr(rng.below(other.size()), rng.below(40)));
        break;
      case 1:
        text = text.substr(0, rng.below(text.size() + 1)).append(other.substr(rng.below(other.size())));
        break;
      case 2:
        mutate_bytes(text, rng);
        break;
      case 3:
      case 4:
        mutate_number(text, rng);
        break;
      default:
        mutate_token(text, rng);
        break;
    }
  }
  return text;
}

// Returns whether the text made a graph.
bool survives(std::string_view text) {
  try {
    const Graph g = parse_expression(text, "fuzz");
    EXPECT_FALSE(g.outputs.empty()) << text;
    EXPECT_FALSE(print(g).empty());
    return true;
  } catch (const Error& e) {
    EXPECT_TRUE(std::string_view(e.what()).starts_with("fuzz:")) << e.what() << "\n" << text;
    EXPECT_NE(std::string_view(e.what()).find("expected"), std::string_view::npos) << e.what() << "\n" << text;
    return false;
  }
}

TEST(ExpressionFuzz, TheExpressionsAreValidAndEveryPrefixIsHandled) {
  for (const std::string_view text : valid_texts) {
    EXPECT_TRUE(survives(text)) << text;
    for (std::size_t n = 0; n < text.size(); ++n) survives(text.substr(0, n));
  }
}

TEST(ExpressionFuzz, MutatedExpressions) {
  RecordProperty("seed", std::to_string(seed));
  Rng rng(seed);
  std::size_t graphs = 0;
  for (std::size_t i = 0; i < texts; ++i) {
    const std::string text = mutate(std::string(valid_texts[rng.below(valid_texts.size())]), rng);
    graphs += survives(text);
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ", text " << i << ":\n" << text;
  }
  RecordProperty("graphs", std::to_string(graphs));
  EXPECT_GT(graphs, texts / 20);  // the mutations reach code beyond the first error
  EXPECT_LT(graphs, texts);
}

TEST(ExpressionFuzz, Noise) {
  Rng rng(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (std::uint64_t n = rng.below(20); n > 0; --n)
      text += rng.below(2) == 0 ? std::string(words[rng.below(words.size())])
                                : std::string(1, static_cast<char>(rng.below(256)));
    survives(text);
  }
}

}  // namespace
}  // namespace deplo::ir::torch
