#include "apps/cli/source_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "apps/cli/flags.h"
#include "core/error.h"
#include "engine/source/experiment.h"

namespace deplo::apps {
namespace {

// "M=33" → {"M", 33}
std::pair<std::string, std::int64_t> parse_symbol(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::int64_t value = 0;
  if (equals != std::string::npos && equals > 0) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, value);
    if (error == std::errc() && stop == end && value >= 1 && value <= engine::most_extent)
      return {text.substr(0, equals), value};
  }
  throw Error(
      fmt::format("--symbol: expected NAME=SIZE with a size between 1 and {}, found '{}'", engine::most_extent, text));
}

ir::Symbols parse_symbols(const std::vector<std::string>& texts) {
  ir::Symbols symbols;
  for (const std::string& text : texts) {
    const auto [name, value] = parse_symbol(text);
    if (!symbols.emplace(name, value).second)
      throw Error(fmt::format("--symbol: expected each symbol once, found {} twice", name));
  }
  return symbols;
}

/// `kernel`: may be one of what the flags say.
void check_one(const SourceFlags& flags, bool kernel) {
  const bool tile = !flags.tile.file.empty();
  const int found = int{flags.code.has_value()} + int{flags.file.has_value()} + int{flags.pt2.has_value()} +
                    int{flags.model.has_value()} + int{kernel && !flags.kernel.empty()} + int{tile};
  if (found != 1)
    throw Error(fmt::format(
        "expected one of -c CODE, --file FILE, --pt2 FILE, --model NAME{}, --tile FILE, found {}; see --help",
        kernel ? ", --kernel NAME" : "", found == 0 ? "none" : "several"));
  if (!tile && (!flags.tile.entry.empty() || !flags.tile.arguments.empty() || !flags.tile.grid.empty()))
    throw Error("--entry, --arg, --grid: expected --tile FILE with them, found none");
  if (tile && (flags.dtype || flags.allow_tf32))
    throw Error("--dtype, --allow-tf32: expected a source that leaves types open, found --tile, which names its own");
  if (!flags.model && (flags.layer || flags.seq))
    throw Error(fmt::format("{}: expected --model with it, found none", flags.layer ? "--layer" : "--seq"));
  if (flags.model && !flags.seq) throw Error("--model: expected --seq N with it, found none; see --help");
}

std::optional<ir::DType> dtype_of(const SourceFlags& flags) {
  if (!flags.dtype) return std::nullopt;
  if (flags.pt2) throw Error("--dtype: expected a source that leaves types open, found --pt2, which names its own");
  return engine::parse_float_type(*flags.dtype, "--dtype");
}

engine::GraphSource graph_of(const SourceFlags& flags) {
  const std::optional<ir::DType> dtype = dtype_of(flags);
  const rules::AttentionChoice attention = {engine::parse_attention(flags.attention.value_or("auto"), "--attention"),
                                            engine::parse_key_parts(flags.key_parts.value_or("auto"), "--key-parts")};
  if (attention.kernels == rules::Attention::split && attention.key_parts > 0)
    throw Error("--key-parts: expected --attention auto or fused with a number of parts, found split");
  if (flags.code) return engine::Expression{*flags.code, "-c", dtype, flags.allow_tf32, attention};
  if (flags.file) return engine::ExpressionFile{*flags.file, dtype, flags.allow_tf32, attention};
  if (flags.pt2) return engine::Pt2File{*flags.pt2, flags.allow_tf32, attention};
  return engine::ModelBlock{*flags.model, flags.layer.value_or(0), *flags.seq, dtype, flags.allow_tf32, attention};
}

}  // namespace

bool SourceFlags::is_empty() const {
  return kernel.empty() && symbols.empty() && tile.file.empty() && !only && !code && !file && !pt2 && !model &&
         !layer && !seq;
}

engine::Floats SourceFlags::floats() const {
  engine::Floats floats;
  if (dtype) floats.dtype = engine::parse_float_type(*dtype, "--dtype");
  if (allow_tf32) floats.allow_tf32 = true;
  return floats;
}

engine::GraphSource SourceFlags::graph() const {
  check_one(*this, false);
  CHECK(tile.file.empty());
  return graph_of(*this);
}

engine::KernelSelection SourceFlags::selection() const {
  const ir::Symbols sizes = parse_symbols(symbols);
  check_one(*this, true);
  if (kernel.empty() && !sizes.empty())
    throw Error(fmt::format("--symbol: expected --kernel with it, found {}", tile.file.empty() ? "a graph" : "--tile"));
  if (attention || key_parts)
    if (const bool is_tile = !tile.file.empty(); is_tile || !kernel.empty())
      throw Error(fmt::format("{}: expected a graph (-c, …) with it, found {}",
                              attention ? "--attention" : "--key-parts", is_tile ? "--tile" : "--kernel"));
  if (!tile.file.empty()) return {tile, only};
  if (!kernel.empty() && only) throw Error("--only: expected a graph (-c, …) with it, found --kernel");
  if (kernel.empty()) return {graph_of(*this), only};
  return {engine::LoopKernel{kernel, sizes, "--kernel", dtype_of(*this), allow_tf32}, {}};
}

void add_allow_tf32(Command command, bool& allow_tf32) {
  command.flag("--allow-tf32", allow_tf32,
               "Let tensor cores round the f32 factors of a sum to tf32, which has 11 bits of precision.");
}

void add_source_flags(Command command, SourceFlags& source) {
  command.option("-c,--code", source.code, "CODE", "Read this PyTorch expression, such as \"F.relu(torch.randn(8))\".");
  command.option("--file", source.file, "FILE", "Read the expression from FILE.").seldom();
  command.option("--pt2", source.pt2, "FILE", "Read a program from FILE, written by torch.export.save.");
  command.option("--model", source.model, "MODEL",
                 "Build one block of a model: a name under configs/models, or a .yaml file.");
  command.option("--layer", source.layer, "N", "Build block N of the model [0].")
      .between(std::int64_t{0}, engine::most_extent)
      .seldom();
  command.option("--seq", source.seq, "N", "Set the sequence length of the block.")
      .between(std::int64_t{1}, engine::most_extent);
  command.option("-k,--kernel", source.kernel, "KERNEL",
                 "Read a kernel: a name under configs/kernels, or a .loop file.");
  command
      .option("-s,--symbol", source.symbols, "NAME=SIZE",
              "Set the size of a symbol of the kernel. Repeat for each symbol.")
      .take_all();
  command.option("--tile", source.tile.file, "FILE",
                 "Read a tile program, NVIDIA's Tile IR as bytecode or text (docs/tile_programs.md).");
  command.option("--entry", source.tile.entry, "NAME", "With --tile: take this entry [its only one].").seldom();
  command
      .option("--arg", source.tile.arguments, "NAME=VALUE",
              "With --tile: an argument, in order: n=64, A=f16[100,64] or A=a.npy.")
      .repeated()
      .seldom();
  command
      .option("--grid", source.tile.grid, "X,Y,Z",
              "With --tile: the blocks in each dimension, such as 64,2 or cdiv(a[0], 128).")
      .seldom();
  command.option("--dtype", source.dtype, "f32|f16|bf16",
                 "Let floats be f16 or bf16 where the source names no type [f32, of a model what its file says].");
  add_allow_tf32(command, source.allow_tf32);
  command
      .option(
          "--attention", source.attention, "auto|fused|split",
          "Let scores, softmax and the product with the values be one kernel: where that pays, wherever it is right, "
          "or never [auto].")
      .seldom();
  command
      .option(
          "--key-parts", source.key_parts, "auto|N",
          "Sum up the keys of an attention in one kernel in N parts, and combine them in a second kernel; auto: in as "
          "many as keep the target busy [auto].")
      .seldom();
  command.option("--only", source.only, "NAME|NUMBER", "Take only one kernel of the source, by name or number.")
      .seldom();
}

}  // namespace deplo::apps
