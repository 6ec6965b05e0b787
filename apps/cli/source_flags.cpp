#include "apps/cli/source_flags.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/text/characters.h"
#include "core/text/number.h"
#include "engine/source/experiment.h"
#include "ir/torch/expression/expression.h"

namespace deplo::apps {
namespace {

// Parses symbols and their sizes: "M=33" becomes {"M", 33}.
ir::Symbols parse_symbols(const std::vector<std::string>& texts) {
  ir::Symbols symbols;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto size = parse_number<std::int64_t>(equals == std::string::npos ? "" : text.substr(equals + 1));
    if (name.empty() || !size || *size < 1 || *size > engine::max_extent)
      throw Error(fmt::format("--symbol: expected NAME=SIZE with a size between 1 and {}, found '{}'",
                              engine::max_extent, text));
    if (!symbols.emplace(name, *size).second)
      throw Error(fmt::format("--symbol: expected each symbol once, found {} twice", name));
  }
  return symbols;
}

void require_source(const SourceFlags& flags, std::string_view kernel) {
  if (flags.is_empty())
    throw Error(fmt::format(
        "expected one of -c CODE, --file FILE, --pt2 FILE, --model NAME{}, --tile FILE, --space FILE, found none; see "
        "--help",
        kernel));
}

// Returns the text with a new value of one constant. `setting`: the constant and its value, such as "batch_size=4".
std::string set_constant(std::string text, const std::string& file, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  if (equals == std::string::npos || !is_identifier(name) || equals + 1 == setting.size())
    throw Error(fmt::format("--set: expected NAME=VALUE, found '{}'", setting));
  std::optional<std::string> changed =
      ir::torch::replace_variable(std::move(text), file, name, setting.substr(equals + 1));
  if (!changed) throw Error(fmt::format("--set: expected a constant of the file, found '{}'", name));
  return std::move(*changed);
}

/// Returns the file's text with its constants as `settings` say, followed by a call of its Model if there is `init`:
/// the function that returns the constructor's arguments. The function named `inputs_function` returns those of the
/// call.
std::string file_text(const SourceFlags& flags) {
  std::string text = read_text(*flags.file);
  for (const std::string& setting : flags.settings) text = set_constant(std::move(text), *flags.file, setting);
  if (!flags.init) return text;
  for (const std::string& name : {*flags.init, flags.inputs_function})
    if (!is_identifier(name)) throw Error(fmt::format("--init: expected the name of a function, found '{}'", name));
  return text + fmt::format("\nModel(*{}())(*{}())\n", *flags.init, flags.inputs_function);
}

decltype(engine::Source::from) from_of(const SourceFlags& flags) {
  ir::Symbols symbols = parse_symbols(flags.symbols);
  if (!flags.tile.file.empty()) return flags.tile;
  if (!flags.file_kernel.space.empty()) return flags.file_kernel;
  if (!flags.kernel.empty()) return engine::LoopKernel{flags.kernel, std::move(symbols), "--kernel"};
  std::error_code none;
  if (flags.code && std::filesystem::is_regular_file(*flags.code, none))
    throw Error(fmt::format("-c: expected code, found the name of a file; --file {} reads it", *flags.code));
  if (flags.code) return engine::Expression{*flags.code, "-c", std::move(symbols)};
  if (flags.file && (flags.init || !flags.settings.empty())) return engine::Expression{file_text(flags), *flags.file};
  if (flags.file) return engine::ExpressionFile{*flags.file};
  if (flags.pt2) return engine::Pt2File{*flags.pt2, std::move(symbols)};
  return engine::ModelBlock{*flags.model, flags.layer.value_or(0), *flags.seq};
}

engine::Source source_of(const SourceFlags& flags) {
  engine::Source source{from_of(flags), flags.options.read()};
  if (const auto* refused = engine::find_refused(source.options, source.kind()))
    throw Error(
        fmt::format("{} cannot be combined with {}, {}", refused->flag(), flag_of(source.kind()), refused->refusal));
  return source;
}

}  // namespace

std::string flag_of(engine::SourceKind kind) {
  return kind == engine::SourceKind::expression ? "-c" : "--" + std::string(engine::name(kind));
}

engine::SourceOptions OptionFlags::read() const {
  engine::SourceOptions options;
  for (const engine::SourceOption& option : engine::source_options()) {
    if (const auto text = texts.find(option.name); text != texts.end() && text->second)
      option.read(*text->second, option.flag(), options);
    if (const auto given = switches.find(option.name); given != switches.end() && given->second)
      option.read("true", option.flag(), options);
  }
  if (const std::string_view fault = engine::contradiction(options); !fault.empty())
    throw Error(fmt::format("--key-parts: {}", fault));
  return options;
}

std::string OptionFlags::command_line() const {
  std::string line;
  for (const engine::SourceOption& option : engine::source_options()) {
    if (const auto text = texts.find(option.name); text != texts.end() && text->second)
      line += fmt::format(" {} {}", option.flag(), *text->second);
    if (const auto given = switches.find(option.name); given != switches.end() && given->second)
      line += " " + option.flag();
  }
  return line;
}

void add_source_options(Command command, OptionFlags& flags) {
  for (const engine::SourceOption& option : engine::source_options()) {
    const std::string help(option.help);
    Command shown = option.seldom ? command.seldom() : command;
    if (option.words.empty())
      shown.flag(option.flag(), flags.switches[option.name], help);
    else
      shown.option(option.flag(), flags.texts[option.name], std::string(option.words).c_str(), help);
  }
}

void SourceFlags::take_inputs_function(std::string& inputs) {
  if (!init || !is_identifier(inputs)) return;
  inputs_function = inputs;
  inputs.clear();
}

bool SourceFlags::is_empty() const {
  return kernel.empty() && tile.file.empty() && file_kernel.space.empty() && !code && !file && !pt2 && !model;
}

engine::Source SourceFlags::program() const {
  require_source(*this, "");
  CHECK(kernel.empty());
  return source_of(*this);
}

engine::KernelSelection SourceFlags::selection() const {
  require_source(*this, ", --kernel NAME");
  return {source_of(*this), only};
}

void add_kernel_file_flags(Command command, engine::foreign::Files& files) {
  command.option("--space", files.space, "FILE",
                 "Take your own kernel: FILE describes its space (T1 as JSON, or YAML; docs/kernel_files.md).");
  command.seldom().option(
      "--kernel-file", files.kernel, "FILE",
      "With --space: take the kernel from FILE (OpenCL C or CUDA C++) instead of the file that the space names.");
  command.needs("--kernel-file", "--space");
}

void add_configuration(Command command, std::string& configuration) {
  command.seldom()
      .option("--configuration", configuration, "NAME=VALUE,…",
              "With --space: set these parameters. The others keep their defaults. May be repeated.")
      .repeated_as_lines();
  command.needs("--configuration", "--space");
}

namespace {

constexpr const char* graphs[] = {"--code", "--file", "--pt2", "--model"};

void add_graphs(Command command, SourceFlags& source) {
  command.option("-c,--code", source.code, "CODE", "Read PyTorch code, such as \"F.relu(torch.randn(8))\".");
  command.option("--file", source.file, "FILE", "Read code, or KernelBench's class Model, from FILE.");
  command.option("--pt2", source.pt2, "FILE", "Read a program from FILE, written by torch.export.save.");
  command.option("--model", source.model, "MODEL", "Build a block of this model (configs/models or .yaml).");
  command.seldom()
      .option("--layer", source.layer, "N", "Build block N of the model [0].")
      .between(std::int64_t{0}, engine::max_extent);
  command.option("--seq", source.seq, "N", "Set the sequence length of the block.")
      .between(std::int64_t{1}, engine::max_extent);
  for (std::size_t i = 1; i < std::size(graphs); ++i) command.excludes(graphs[i], {graphs, graphs + i});
  command.option("-s,--symbol", source.symbols, "NAME=SIZE", "Set the size of a symbol. Repeat for each symbol.")
      .take_all();
  command.excludes("--symbol", {"--file", "--model"});
  command.needs("--model", "--seq");
  command.needs("--seq", "--model");
  command.needs("--layer", "--model");
}

void add_file_functions(Command command, SourceFlags& source) {
  command.seldom().option(
      "--init", source.init, "NAME",
      "With --file: compute Model(*NAME())(*get_inputs()), in place of the file's expression. --inputs names "
      "a function other than get_inputs.");
  command.seldom()
      .option("--set", source.settings, "NAME=VALUE", "With --file: set a constant of the file, such as batch_size=4.")
      .repeated();
  command.needs("--init", "--file");
  command.needs("--set", "--file");
}

void add_tile_program(Command command, SourceFlags& source) {
  engine::TileSource& tile = source.tile;
  command.option("--tile", tile.file, "FILE", "Read a tile program in Tile IR (docs/tile_programs.md).");
  command.seldom().option("--entry", tile.entry, "NAME", "With --tile: take this entry [its only one].");
  command.seldom()
      .option("--arg", tile.arguments, "NAME=VALUE",
              "With --tile: pass this argument, such as n=64, A=f16[100,64] or A=a.npy. Repeat in the entry's order.")
      .repeated();
  command.seldom().option("--grid", tile.grid, "X,Y,Z",
                          "With --tile: set the number of blocks in each dimension, such as 64,2 or cdiv(a[0], 128).");
  for (const char* flag : {"--entry", "--arg", "--grid"}) command.needs(flag, "--tile");
  command.excludes("--tile", {std::begin(graphs), std::end(graphs)});
  command.excludes("--symbol", {"--tile"});
}

void add_kernel_file(Command command, SourceFlags& source) {
  add_kernel_file_flags(command, source.file_kernel);
  command.excludes("--space", {std::begin(graphs), std::end(graphs)});
  command.excludes("--space", {"--tile", "--symbol"});
}

}  // namespace

void add_source_flags(Command command, SourceFlags& source) {
  add_graphs(command, source);
  command.option("-k,--kernel", source.kernel, "KERNEL", "Read this kernel (configs/kernels or a .loop file).");
  command.excludes("--kernel", {std::begin(graphs), std::end(graphs)});
  add_tile_program(command, source);
  add_kernel_file(command, source);
  command.excludes("--kernel", {"--tile", "--space"});
  add_source_options(command, source.options);
}

void add_program_flags(Command command, SourceFlags& source) {
  add_graphs(command, source);
  add_file_functions(command, source);
  add_tile_program(command, source);
  add_kernel_file(command, source);
  add_source_options(command, source.options);
}

void add_selection_flags(Command command, SourceFlags& source) {
  add_source_flags(command, source);
  add_file_functions(command, source);
  command.seldom().option("--only", source.only, "NAME|NUMBER",
                          "Take only one kernel of the source, by name or number.");
  command.excludes("--only", {"--kernel", "--space"});
}

void add_inputs_function(Command command, SourceFlags& source) {
  command.seldom()
      .option("--inputs", source.inputs_function, "NAME",
              "With --init: make the inputs with this function of the file.")
      .show_default();
  command.needs("--inputs", "--init");
}

}  // namespace deplo::apps
