#include "library/source.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "core/error.h"
#include "engine/source/experiment.h"

namespace deplo {
namespace {

void check(const Source& source) {
  int found = 0;
  for (const std::string* one :
       {&source.expression, &source.pt2, &source.model, &source.kernel, &source.tile, &source.space})
    found += !one->empty();
  if (found != 1)
    throw Error(fmt::format("Source: expected one of expression, pt2, model, kernel, tile, space, found {}",
                            found == 0 ? "none" : "several"));
  if (source.kernel.empty() && source.expression.empty() && source.pt2.empty() && !source.symbols.empty())
    throw Error("Source: symbols require a kernel, an expression or a pt2 file");
  if (source.tile.empty() && !(source.entry.empty() && source.arguments.empty() && source.grid.empty()))
    throw Error("Source: entry, arguments and grid require tile");
  if (source.space.empty() && !source.kernel_file.empty()) throw Error("Source: kernel_file requires space");
  for (const auto& [name, value] : source.symbols)
    if (value < 1 || value > engine::max_extent)
      throw Error(fmt::format("Source: expected {} from 1 to {}, found {}", name, engine::max_extent, value));
}

/// The kind of the source, in the engine's form.
decltype(engine::Source::from) from_of(const Source& source, const std::string& place) {
  if (!source.space.empty()) return engine::foreign::Files{source.space, source.kernel_file};
  if (!source.tile.empty()) return engine::TileSource{source.tile, source.entry, source.arguments, source.grid};
  if (!source.kernel.empty())
    return engine::LoopKernel{source.kernel, {source.symbols.begin(), source.symbols.end()}, place};
  if (!source.pt2.empty()) return engine::Pt2File{source.pt2, {source.symbols.begin(), source.symbols.end()}};
  if (!source.model.empty()) return engine::ModelBlock{source.model, source.layer, source.seq};
  return engine::Expression{source.expression, "expression", {source.symbols.begin(), source.symbols.end()}};
}

engine::SourceOptions options_of(const Source& source) {
  engine::SourceOptions options;
  const std::map<std::string_view, std::string> given = {{"dtype", source.dtype},
                                                         {"allow_tf32", source.allow_tf32 ? "true" : ""},
                                                         {"attention", source.attention},
                                                         {"key_parts", source.key_parts},
                                                         {"form", source.form}};
  for (const engine::SourceOption& option : engine::source_options())
    if (const auto text = given.find(option.name); text != given.end() && !text->second.empty())
      option.read(text->second, fmt::format("Source: {}", option.name), options);
  return options;
}

}  // namespace

engine::Source source_of(const Source& source, const std::string& place) {
  check(source);
  engine::Source result{from_of(source, place), options_of(source)};
  if (const auto* refused = engine::find_refused(result.options, result.kind()))
    throw Error(fmt::format("Source: {} cannot be combined with {}, {}", refused->name, engine::name(result.kind()),
                            refused->refusal));
  if (const std::string_view fault = engine::contradiction(result.options); !fault.empty())
    throw Error(fmt::format("Source: key_parts: {}", fault));
  return result;
}

}  // namespace deplo
