#include "engine/source/experiment_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/error.h"
#include "engine/source/graph.h"
#include "engine/source/kernel.h"
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

/// First what the entry says, which is returned, then what the command line does.
template <class T>
Inputs give_all(const Config& config, const std::filesystem::path& folder, Inputs& inputs, T& to) {
  const auto own = config.find("inputs");
  Inputs said = own ? read_inputs(*own, folder) : Inputs{};
  give(said, to);
  check_met(said);
  give(inputs, to);
  return said;
}

measure::InputFiles files_of(const Inputs& own, const Inputs& inputs, const ir::Program& loop) {
  measure::InputFiles files = files_of(inputs, loop);
  for (auto& [name, file] : files_of(own, loop))
    if (!inputs.by_name.contains(name)) files[name] = file;
  return files;
}

KernelCase read_kernel(const Config& config, const std::filesystem::path& folder, Inputs& inputs) {
  config.only({"kernel", "name", "symbols", "restrict", "inputs"});
  const Config kernel = config.at("kernel");
  const auto symbols = config.find("symbols");
  const ir::Symbols bound = symbols ? read_symbols(*symbols) : ir::Symbols{};
  KernelCase result;
  result.place = kernel.place();
  result.name = config.text_or("name", default_name(kernel.text(), bound));
  result.loop = load_kernel(resolve(kernel.text(), ".loop", folder), bound, (symbols ? *symbols : kernel).place());
  const Inputs own = give_all(config, folder, inputs, result.loop);
  result.files = files_of(own, inputs, result.loop);
  return result;
}

struct Entry {
  GraphSource source;
  std::string name;
};

Entry read_source(const Config& config, const std::filesystem::path& folder) {
  Entry entry;
  if (config.has("expression")) {
    config.only({"expression", "name", "restrict", "inputs"});
    entry.source.code = config.at("expression").text();
    entry.name = config.at("name").text();
  } else if (config.has("pt2")) {
    config.only({"pt2", "name", "restrict", "inputs"});
    const std::string file = config.at("pt2").text();
    entry.source.pt2 = resolve(file, ".pt2", folder);
    entry.name = config.text_or("name", std::filesystem::path(file).stem().string());
  } else {
    config.only({"model", "layer", "seq", "name", "restrict", "inputs"});
    const std::string model = config.at("model").text();
    entry.source.model = resolve(model, ".yaml", folder);
    entry.source.layer = config.integer_or("layer", 0, 0, most_extent);
    entry.source.seq = config.at("seq").integer(1, most_extent);
    const std::string stem = model.ends_with(".yaml") ? std::filesystem::path(model).stem().string() : model;
    entry.name = config.text_or("name", fmt::format("{}.layer{}.s{}", stem, *entry.source.layer, *entry.source.seq));
  }
  return entry;
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

std::vector<KernelCase> read_graph_kernels(const Config& config, const std::filesystem::path& folder, Inputs& inputs) {
  const Entry entry = read_source(config, folder);
  ir::torch::Graph graph = at_place(config.place(), [&] { return read_graph(entry.source, "expression"); });
  const Inputs own = give_all(config, folder, inputs, graph);
  const ir::Module module = at_place(config.place(), [&] { return lower_to_measure(graph, "the graph"); });
  if (module.kernels.empty()) throw Error(config.place() + ": expected a graph that computes something, found none");
  std::vector<KernelCase> result;
  for (const ir::Program& loop : module.kernels)
    result.push_back({.name = module.kernels.size() == 1 ? entry.name : entry.name + "." + loop.name,
                      .place = config.place(),
                      .loop = loop,
                      .files = files_of(own, inputs, loop)});
  return result;
}

}  // namespace

std::vector<KernelCase> read_entry(const Config& config, const std::filesystem::path& folder,
                                   const Restrictions& restrictions, Inputs& inputs) {
  config.only({"kernel", "expression", "pt2", "model", "name", "symbols", "layer", "seq", "restrict", "inputs"});
  int kinds = 0;
  for (const char* kind : {"kernel", "expression", "pt2", "model"}) kinds += config.has(kind);
  if (kinds != 1)
    throw Error(fmt::format("{}: expected one of the keys kernel, expression, pt2, model, found {}", config.place(),
                            kinds == 0 ? "none of them" : "several"));
  std::vector<KernelCase> kernels;
  if (config.has("kernel"))
    kernels.push_back(read_kernel(config, folder, inputs));
  else
    kernels = read_graph_kernels(config, folder, inputs);
  Restrictions all = restrictions;
  if (const auto own = config.find("restrict")) std::ranges::move(read_restrictions(*own), std::back_inserter(all));
  for (KernelCase& kernel : kernels) kernel.restrictions = all;
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
