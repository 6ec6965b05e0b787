#include "engine/source/experiment_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/foreign/kernel_file.h"
#include "engine/foreign/opaque_kernel.h"
#include "engine/loop/kernel.h"
#include "engine/source/alternatives.h"
#include "engine/source/load.h"
#include "ir/canonical/canonical.h"

namespace deplo::engine {
namespace {

/// Reads the sizes of an entry's symbols, if it has any.
ir::Symbols read_symbols(const Config& entry) {
  ir::Symbols symbols;
  if (const auto given = entry.find("symbols"))
    for (const auto& [name, value] : given->entries()) symbols[name] = value.integer(1, max_extent);
  return symbols;
}

std::string default_name(const std::string& kernel, const ir::Symbols& symbols) {
  std::string name = std::filesystem::path(kernel).stem().string();
  for (const auto& [symbol, value] : symbols) name += fmt::format(".{}{}", symbol, value);
  return name;
}

// Returns the path of a file whose name may be relative to the experiment's folder.
std::string resolve(const std::string& file, const char* extension, const std::filesystem::path& folder) {
  std::error_code error;
  const bool beside = file.ends_with(extension) && std::filesystem::exists(folder / file, error);
  return beside ? (folder / file).string() : file;
}

/// Rejects keys other than the entry kind's own keys, the keys of every entry, and the options that its source takes.
void check_keys(const Config& config, std::vector<std::string_view> keys, SourceKind kind) {
  keys.insert(keys.end(), {"name", "restrict", "inputs", "objectives"});
  for (const SourceOption& option : source_options())
    if (option.taken_by(kind)) keys.push_back(option.name);
  config.only(keys);
}

/// The default number of held-out shapes is half the number of shapes, but at most this many.
constexpr std::size_t max_held_out = 6;

void read_family(const Config& config, Entry& entry) {
  const auto shapes = config.find("shapes");
  const auto held_out = config.find("held_out");
  if (!shapes && held_out)
    throw Error(held_out->place() + ": expected held_out together with shapes, found held_out alone");
  if (!shapes) return;
  entry.shapes = read_shapes(*shapes);
  constexpr std::uint64_t seed = 0;  // makes every run hold out the same shapes
  const std::size_t usual = std::min((entry.shapes.size() + 1) / 2, max_held_out);
  if (!held_out)
    entry.held_out = draw_held_out(entry.shapes, usual, seed);
  else if (held_out->is_text() && held_out->text().find('=') == std::string::npos)
    entry.held_out =
        draw_held_out(entry.shapes, static_cast<std::size_t>(held_out->integer(0, std::ssize(entry.shapes))), seed);
  else
    entry.held_out = read_shapes(*held_out);
}

void read_graph(const Config& config, const std::filesystem::path& folder, Entry& entry) {
  if (config.has("expression")) {
    check_keys(config, {"expression", "symbols", "shapes", "held_out"}, SourceKind::expression);
    entry.source.from = Expression{config.at("expression").text(), "expression", read_symbols(config)};
    read_family(config, entry);
    entry.name = config.at("name").text();
  } else if (config.has("pt2")) {
    check_keys(config, {"pt2", "symbols", "shapes", "held_out"}, SourceKind::pt2);
    const std::string file = config.at("pt2").text();
    const ir::Symbols sizes = read_symbols(config);
    entry.source.from = Pt2File{resolve(file, ".pt2", folder), sizes};
    read_family(config, entry);
    entry.name = config.text_or("name", default_name(file, sizes));
  } else {
    check_keys(config, {"model", "layer", "seq"}, SourceKind::model);
    const std::string model = config.at("model").text();
    const ModelBlock block{resolve(model, ".yaml", folder), config.integer_or("layer", 0, 0, max_extent),
                           config.at("seq").integer(1, max_extent)};
    const std::string stem = model.ends_with(".yaml") ? std::filesystem::path(model).stem().string() : model;
    entry.source.from = block;
    entry.name = config.text_or("name", fmt::format("{}.layer{}.s{}", stem, block.layer, block.seq));
  }
  entry.place = config.place();
}

void read_kernel(const Config& config, const std::filesystem::path& folder, Entry& entry) {
  check_keys(config, {"kernel", "symbols", "shapes", "held_out"}, SourceKind::kernel);
  const Config kernel = config.at("kernel");
  const ir::Symbols bound = read_symbols(config);
  entry.source.from =
      LoopKernel{resolve(kernel.text(), ".loop", folder), bound, config.find("symbols").value_or(kernel).place()};
  entry.name = config.text_or("name", default_name(kernel.text(), bound));
  entry.place = kernel.place();
  read_family(config, entry);
}

void read_tile(const Config& config, const std::filesystem::path& folder, Entry& entry) {
  check_keys(config, {"tile", "entry", "arguments", "grid"}, SourceKind::tile);
  const std::string file = config.at("tile").text();
  TileSource source{file, config.text_or("entry", ""), {}, config.at("grid").text()};
  for (const char* extension : {".tileirbc", ".tile"}) source.file = resolve(source.file, extension, folder);
  if (const auto arguments = config.find("arguments"))
    for (const Config& argument : arguments->items()) {
      const std::string text = argument.text();
      const std::size_t value = text.find('=') + 1;  // 0 if there is no name
      source.arguments.push_back(text.substr(0, value) + resolve(text.substr(value), ".npy", folder));
    }
  entry.source.from = std::move(source);
  entry.name = config.text_or("name", std::filesystem::path(file).stem().string());
  entry.place = config.place();
}

void read_kernel_file(const Config& config, const std::filesystem::path& folder, Entry& entry) {
  config.only({"kernel_file", "space", "name", "inputs", "objectives", "restrict"});
  std::error_code error;
  const auto found = [&](const Config& name) {
    const std::filesystem::path beside = folder / name.text();
    return std::filesystem::exists(beside, error) ? beside.lexically_normal().string() : name.text();
  };
  foreign::Files files{found(config.at("space"))};
  if (const auto kernel = config.find("kernel_file")) files.kernel = found(*kernel);
  entry.source.from = std::move(files);
  entry.name = config.text_or("name", "");
  entry.place = config.place();
}

}  // namespace

SourceOptions read_source_options(const Config& config) {
  SourceOptions options;
  for (const SourceOption& option : source_options())
    if (const auto value = config.find(option.name)) option.read(value->text(), value->place(), options);
  if (const std::string_view fault = contradiction(options); !fault.empty())
    throw Error(fmt::format("{}: key_parts: {}", config.place(), fault));
  return options;
}

Entry read_entry(const Config& config, const std::filesystem::path& folder, const SourceOptions& all) {
  std::vector<std::string_view> keys = {"kernel",      "expression", "pt2",      "model",     "tile",
                                        "kernel_file", "space",      "name",     "symbols",   "layer",
                                        "seq",         "shapes",     "held_out", "objectives"};
  for (const SourceOption& option : source_options()) keys.push_back(option.name);
  keys.insert(keys.end(), {"entry", "arguments", "grid", "restrict", "inputs"});
  config.only(keys);
  int kinds = 0;
  for (const char* kind : {"kernel", "expression", "pt2", "model", "tile"}) kinds += config.has(kind);
  const bool is_kernel_file = kinds == 0 && (config.has("kernel_file") || config.has("space"));
  Entry entry;
  if (const auto given = config.find("objectives")) {
    entry.objectives = foreign::read_objectives(*given);
    if (config.has("shapes") && !entry.objectives->empty())
      throw Error(given->place() + ": objectives cannot be combined with shapes, whose schedules are chosen by time");
  }
  if (kinds != 1 && !is_kernel_file)
    throw Error(fmt::format("{}: expected one of the keys kernel, expression, pt2, model, tile, space, found {}",
                            config.place(), kinds == 0 ? "none of them" : "several"));
  if (is_kernel_file)
    read_kernel_file(config, folder, entry);
  else if (config.has("kernel"))
    read_kernel(config, folder, entry);
  else if (config.has("tile"))
    read_tile(config, folder, entry);
  else
    read_graph(config, folder, entry);
  const SourceOptions own = read_source_options(config);
  SourceOptions& options = entry.source.options;
  options = taken(joined(own, all), entry.source.kind());
  if (!own.dtype && options.dtype.value_or(ir::DType::f32) != ir::DType::f32)
    entry.name += fmt::format(".{}", name(*options.dtype));
  entry.tf32_of_all = !own.allow_tf32;
  if (const auto inputs = config.find("inputs")) entry.inputs = read_inputs(*inputs, folder);
  if (const auto restrict_own = config.find("restrict")) entry.restrictions = read_restrictions(*restrict_own);
  return entry;
}

std::vector<KernelCase> kernels_of(Entry entry, Inputs& inputs, const Target& target) {
  Inputs* const given[] = {&entry.inputs, &inputs};
  std::vector<LoadedKernel> loaded = load(entry.source, target, given, entry.place);
  check_met(entry.inputs);
  if (loaded.empty()) throw Error(entry.place + ": expected a graph that computes something, found none");
  if (entry.name.empty()) entry.name = loaded.front().name();
  std::vector<KernelCase> kernels;
  for (LoadedKernel& one : loaded) {
    KernelCase& kernel = kernels.emplace_back();
    kernel.name = loaded.size() == 1 ? entry.name : entry.name + "." + one.loop.name;
    if (entry.tf32_of_all && one.loop.allow_tf32) kernel.name += ".tf32";
    kernel.place = entry.place;
    kernel.restrictions = entry.restrictions;
    kernel.files = std::move(one.files);
    kernel.tile = std::move(one.tile);
    kernel.objectives = entry.objectives.value_or(one.opaque ? one.opaque->objectives() : measure::Objectives{});
    kernel.opaque = std::move(one.opaque);
    kernel.loop = std::move(one.loop);
  }
  return kernels;
}

void add(Experiment& experiment, const Entry& entry, Inputs& inputs, const Target& target) {
  std::vector<KernelCase> kernels = kernels_of(entry, inputs, target);
  if (Alternatives::exist_for(entry.source)) {
    GraphCase& graph = experiment.graphs.emplace_back(
        GraphCase{entry.name, entry.place, entry.source, {entry.inputs, inputs}, entry.restrictions, {}});
    graph.objectives = entry.objectives.value_or(measure::Objectives{});
    for (const KernelCase& kernel : kernels) graph.kernels.push_back(kernel.name);
  }
  std::ranges::move(kernels, std::back_inserter(experiment.kernels));
}

namespace {

/// Returns the entry with these sizes added.
Entry at_shape(Entry entry, const ir::Symbols& shape) {
  auto* const kernel = std::get_if<LoopKernel>(&entry.source.from);
  auto* const program = std::get_if<Pt2File>(&entry.source.from);
  ir::Symbols& sizes = kernel != nullptr    ? kernel->symbols
                       : program != nullptr ? program->sizes
                                            : std::get<Expression>(entry.source.from).sizes;
  for (const auto& [symbol, size] : shape) {
    if (!sizes.emplace(symbol, size).second)
      throw Error(fmt::format("{}: expected {} either in symbols or in shapes, found it in both", entry.place, symbol));
    entry.name += fmt::format(".{}{}", symbol, size);
  }
  return entry;
}

}  // namespace

void add_family(Experiment& experiment, const Entry& entry, Inputs& inputs, const Target& target) {
  FamilyCase family{entry.name, entry.place, {}};
  for (const auto* shapes : {&entry.shapes, &entry.held_out})
    for (const ir::Symbols& shape : *shapes) {
      if (shapes == &entry.held_out && std::ranges::count(entry.shapes, shape) > 0)
        throw Error(fmt::format("{}: expected held_out shapes that are not also in shapes, found {}", entry.place,
                                print(shape)));
      FamilyCase::Member& member =
          family.members.emplace_back(FamilyCase::Member{shape, shapes == &entry.held_out, {}});
      for (KernelCase& kernel : kernels_of(at_shape(entry, shape), inputs, target)) {
        member.kernels.push_back({kernel.loop.name, kernel.name});
        experiment.kernels.push_back(std::move(kernel));
      }
    }
  constexpr std::uint64_t seed = 1;  // makes every run draw the same shapes
  for (const ir::Symbols& shape : draw_between(entry.shapes, entry.held_out, seed))
    family.between.push_back({shape, kernels_of(at_shape(entry, shape), inputs, target)});
  experiment.families.push_back(std::move(family));
}

std::string identity(const KernelCase& kernel) {
  return (kernel.opaque ? kernel.opaque->identity() + kernel.opaque->space_text()
                        : print(ir::canonical(kernel.loop).program) + describe(kernel.restrictions)) +
         print(kernel.objectives);
}

std::vector<KernelCase> merge_equal(std::vector<KernelCase> kernels) {
  std::map<std::string, std::string> places;  // name → place
  std::map<std::string, std::size_t> known;   // identity → index in `result`
  std::vector<KernelCase> result;
  for (KernelCase& kernel : kernels) {
    const auto [named, is_new] = places.emplace(kernel.name, kernel.place);
    if (!is_new)
      throw Error(fmt::format("{}: expected each name once, found '{}' again (first at {})", kernel.place, kernel.name,
                              named->second));
    const auto [first, differs] = known.emplace(identity(kernel), result.size());
    if (differs)
      result.push_back(std::move(kernel));
    else
      result[first->second].same.push_back(std::move(kernel.name));
  }
  return result;
}

}  // namespace deplo::engine
