#include "library/source.h"

#include <fmt/format.h>

#include "core/error.h"
#include "engine/source/experiment.h"

namespace deplo {
namespace {

void check(const Source& source) {
  int found = 0;
  for (const std::string* one : {&source.expression, &source.pt2, &source.model, &source.kernel, &source.tile})
    found += !one->empty();
  if (found != 1)
    throw Error(fmt::format("Source: expected one of expression, pt2, model, kernel, tile, found {}",
                            found == 0 ? "none" : "several"));
  if (source.kernel.empty() && !source.symbols.empty())
    throw Error("Source: expected symbols with a kernel only, found them with a graph");
  if (source.tile.empty() && !(source.entry.empty() && source.arguments.empty() && source.grid.empty()))
    throw Error("Source: expected entry, arguments and grid with tile only, found one without it");
  for (const auto& [name, value] : source.symbols)
    if (value < 1 || value > engine::most_extent)
      throw Error(fmt::format("Source: expected {} from 1 to {}, found {}", name, engine::most_extent, value));
}

}  // namespace

engine::Source source_of(const Source& source, const std::string& place) {
  check(source);
  std::optional<ir::DType> dtype;
  if (!source.dtype.empty()) dtype = engine::parse_float_type(source.dtype, "Source: dtype");
  if (dtype && !source.pt2.empty()) throw Error("Source: expected no dtype with pt2, which names its own, found one");
  if (!source.tile.empty() && (dtype || source.allow_tf32))
    throw Error("Source: expected no dtype and no allow_tf32 with tile, which names its own types, found one");
  if (!source.tile.empty()) return engine::TileSource{source.tile, source.entry, source.arguments, source.grid};
  if (!source.kernel.empty())
    return engine::LoopKernel{
        source.kernel, {source.symbols.begin(), source.symbols.end()}, place, dtype, source.allow_tf32};
  if (!source.pt2.empty()) return engine::Pt2File{source.pt2, source.allow_tf32};
  if (!source.model.empty())
    return engine::ModelBlock{source.model, source.layer, source.seq, dtype, source.allow_tf32};
  return engine::Expression{source.expression, "expression", dtype, source.allow_tf32};
}

}  // namespace deplo
