#include "engine/source/experiment_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "engine/source/graph.h"
#include "engine/source/tile_launch.h"
#include "ir/canonical/canonical.h"

namespace deplo::engine {
namespace {

ir::Symbols read_symbols(const Config& config) {
  ir::Symbols symbols;
  for (const auto& [name, value] : config.entries()) symbols[name] = value.integer(1, most_extent);
  return symbols;
}

std::string default_name(const std::string& kernel, const ir::Symbols& symbols) {
  std::string name = std::filesystem::path(kernel).stem().string();
  for (const auto& [symbol, value] : symbols) name += fmt::format(".{}{}", symbol, value);
  return name;
}

// A file may be named as seen from the experiment's own folder.
std::string resolve(const std::string& file, const char* extension, const std::filesystem::path& folder) {
  std::error_code error;
  const bool beside = file.ends_with(extension) && std::filesystem::exists(folder / file, error);
  return beside ? (folder / file).string() : file;
}

void read_graph(const Config& config, const std::filesystem::path& folder, const Floats& floats, Entry& entry) {
  const bool tf32 = floats.allow_tf32.value_or(false);
  if (config.has("expression")) {
    config.only({"expression", "name", "dtype", "allow_tf32", "restrict", "inputs"});
    entry.source = Expression{config.at("expression").text(), "expression", floats.dtype, tf32};
    entry.name = config.at("name").text();
  } else if (config.has("pt2")) {
    config.only({"pt2", "name", "allow_tf32", "restrict", "inputs"});
    const std::string file = config.at("pt2").text();
    entry.source = Pt2File{resolve(file, ".pt2", folder), tf32};
    entry.name = config.text_or("name", std::filesystem::path(file).stem().string());
  } else {
    config.only({"model", "layer", "seq", "name", "dtype", "allow_tf32", "restrict", "inputs"});
    const std::string model = config.at("model").text();
    const ModelBlock block{resolve(model, ".yaml", folder), config.integer_or("layer", 0, 0, most_extent),
                           config.at("seq").integer(1, most_extent), floats.dtype, tf32};
    const std::string stem = model.ends_with(".yaml") ? std::filesystem::path(model).stem().string() : model;
    entry.source = block;
    entry.name = config.text_or("name", fmt::format("{}.layer{}.s{}", stem, block.layer, block.seq));
  }
  entry.place = config.place();
}

void read_kernel(const Config& config, const std::filesystem::path& folder, const Floats& floats, Entry& entry) {
  config.only({"kernel", "name", "symbols", "dtype", "allow_tf32", "restrict", "inputs"});
  const Config kernel = config.at("kernel");
  const auto symbols = config.find("symbols");
  const ir::Symbols bound = symbols ? read_symbols(*symbols) : ir::Symbols{};
  entry.source = LoopKernel{resolve(kernel.text(), ".loop", folder), bound, (symbols ? *symbols : kernel).place(),
                            floats.dtype, floats.allow_tf32.value_or(false)};
  entry.name = config.text_or("name", default_name(kernel.text(), bound));
  entry.place = kernel.place();
}

void read_tile(const Config& config, const std::filesystem::path& folder, Entry& entry) {
  config.only({"tile", "entry", "arguments", "grid", "name", "restrict", "inputs"});
  const std::string file = config.at("tile").text();
  TileSource source{file, config.text_or("entry", ""), {}, config.at("grid").text()};
  for (const char* extension : {".tileirbc", ".tile"}) source.file = resolve(source.file, extension, folder);
  if (const auto arguments = config.find("arguments"))
    for (const Config& argument : arguments->items()) {
      const std::string text = argument.text();
      const std::size_t value = text.find('=') + 1;  // 0 without a name
      source.arguments.push_back(text.substr(0, value) + resolve(text.substr(value), ".npy", folder));
    }
  entry.source = std::move(source);
  entry.name = config.text_or("name", std::filesystem::path(file).stem().string());
  entry.place = config.place();
}

/// First what the entry says, then what the command line does.
template <class T>
void give_all(Entry& entry, Inputs& inputs, T& to) {
  give(entry.inputs, to);
  check_met(entry.inputs);
  give(inputs, to);
}

measure::InputFiles files_of(const Inputs& own, const Inputs& inputs, const ir::Program& loop) {
  measure::InputFiles files = files_of(inputs, loop);
  for (auto& [name, file] : files_of(own, loop))
    if (!inputs.by_name.contains(name)) files[name] = file;
  return files;
}

/// What is thrown knows nothing of the experiment.
template <class F>
auto at_place(const std::string& place, F work) {
  try {
    return work();
  } catch (const Error& e) {
    throw Error(place + ": " + e.what(), e.exit());
  }
}

struct Loops {
  std::vector<ir::Program> kernels;
  std::optional<measure::TileCall> tile = {};
};

Loops read_loops(Entry& entry, Inputs& inputs, const Target& target) {
  if (const auto* kernel = std::get_if<LoopKernel>(&entry.source)) {
    ir::Program loop = engine::read_kernel(*kernel);
    give_all(entry, inputs, loop);
    return {{std::move(loop)}};
  }
  if (const auto* tile = std::get_if<TileSource>(&entry.source)) {
    TileLaunch launch = at_place(entry.place, [&] { return read_launch(*tile); });
    add_files(launch, entry.inputs);
    give_all(entry, inputs, launch);
    ir::Module module = at_place(entry.place, [&] { return lower_to_measure(launch); });
    measure::TileCall call = kernel_tile_call(launch, module);
    return {std::move(module.kernels), std::move(call)};
  }
  const auto& source = std::get<GraphSource>(entry.source);
  ir::torch::Graph graph = at_place(entry.place, [&] { return engine::read_graph(source); });
  give_all(entry, inputs, graph);
  ir::Module module = at_place(entry.place, [&] { return lower_to_measure(graph, passes_of(source, target)); });
  if (module.kernels.empty()) throw Error(entry.place + ": expected a graph that computes something, found none");
  return {std::move(module.kernels)};
}

}  // namespace

Entry read_entry(const Config& config, const std::filesystem::path& folder, const Floats& floats) {
  config.only({"kernel", "expression", "pt2", "model", "tile", "name", "symbols", "layer", "seq", "dtype", "allow_tf32",
               "entry", "arguments", "grid", "restrict", "inputs"});
  int kinds = 0;
  for (const char* kind : {"kernel", "expression", "pt2", "model", "tile"}) kinds += config.has(kind);
  if (kinds != 1)
    throw Error(fmt::format("{}: expected one of the keys kernel, expression, pt2, model, tile, found {}",
                            config.place(), kinds == 0 ? "none of them" : "several"));
  const auto own = config.find("dtype"), own_tf32 = config.find("allow_tf32");
  const Floats all = {own ? parse_float_type(own->text(), own->place()) : floats.dtype,
                      own_tf32 ? own_tf32->boolean() : floats.allow_tf32};
  Entry entry;
  if (config.has("kernel"))
    read_kernel(config, folder, all, entry);
  else if (config.has("tile"))
    read_tile(config, folder, entry);
  else
    read_graph(config, folder, all, entry);
  const bool open = !config.has("pt2") && !config.has("tile");  // these name their types
  if (open && !own && all.dtype.value_or(ir::DType::f32) != ir::DType::f32)
    entry.name += fmt::format(".{}", name(*all.dtype));
  entry.tf32_of_all = !own_tf32;
  if (const auto inputs = config.find("inputs")) entry.inputs = read_inputs(*inputs, folder);
  if (const auto restrict_own = config.find("restrict")) entry.restrictions = read_restrictions(*restrict_own);
  return entry;
}

std::vector<KernelCase> kernels_of(Entry entry, Inputs& inputs, const Target& target) {
  std::vector<KernelCase> kernels;
  Loops loops = read_loops(entry, inputs, target);
  for (ir::Program& loop : loops.kernels) {
    KernelCase& kernel = kernels.emplace_back();
    kernel.tile = loops.tile;
    kernel.name = loop.name;
    kernel.place = entry.place;
    kernel.restrictions = entry.restrictions;
    kernel.files = files_of(entry.inputs, inputs, loop);
    kernel.loop = std::move(loop);
  }
  for (KernelCase& kernel : kernels) {
    kernel.name = kernels.size() == 1 ? entry.name : entry.name + "." + kernel.name;
    if (entry.tf32_of_all && kernel.loop.allow_tf32) kernel.name += ".tf32";
  }
  return kernels;
}

std::vector<KernelCase> merge_equal(std::vector<KernelCase> kernels) {
  std::map<std::string, std::string> places;  // by name
  std::map<std::string, std::size_t> known;   // by what is computed
  std::vector<KernelCase> result;
  for (KernelCase& kernel : kernels) {
    const auto [named, is_new] = places.emplace(kernel.name, kernel.place);
    if (!is_new)
      throw Error(fmt::format("{}: expected each name once, found '{}' again (first at {})", kernel.place, kernel.name,
                              named->second));
    const auto [first, differs] =
        known.emplace(print(ir::canonical(kernel.loop).program) + describe(kernel.restrictions), result.size());
    if (differs)
      result.push_back(std::move(kernel));
    else
      result[first->second].same.push_back(std::move(kernel.name));
  }
  return result;
}

}  // namespace deplo::engine
