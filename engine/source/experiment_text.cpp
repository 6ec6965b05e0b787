#include "engine/source/experiment_text.h"

#include "core/file.h"
#include "core/text/json.h"

namespace deplo::engine {
namespace {

Json with_floats(Json json, std::optional<ir::DType> dtype, bool allow_tf32) {
  if (dtype) json.set("dtype", name(*dtype));
  if (allow_tf32) json.set("allow_tf32", true);
  return json;
}

Json source_of(const Expression& source) {
  return with_floats(Json::object({{"expression", source.text}}), source.dtype, source.allow_tf32);
}
Json source_of(const Pt2File& source) {
  return with_floats(Json::object({{"pt2", source.file}}), std::nullopt, source.allow_tf32);
}
Json source_of(const ModelBlock& source) {
  return with_floats(Json::object({{"model", source.model}, {"layer", source.layer}, {"seq", source.seq}}),
                     source.dtype, source.allow_tf32);
}
Json source_of(const ExpressionFile& source) {
  return with_floats(Json::object({{"expression", read_file(find_data(source.file))}}), source.dtype,
                     source.allow_tf32);
}
Json source_of(const LoopKernel& source) {
  Json json = Json::object({{"kernel", source.name}});
  if (!source.symbols.empty()) json.set("symbols", Json::object(source.symbols));
  return with_floats(std::move(json), source.dtype, source.allow_tf32);
}
Json source_of(const TileSource& source) {
  Json json = Json::object({{"tile", source.file}, {"grid", source.grid}});
  if (!source.entry.empty()) json.set("entry", source.entry);
  if (!source.arguments.empty()) json.set("arguments", Json::array(source.arguments));
  return json;
}
Json source_of(const GraphSource& source) {
  return std::visit([](const auto& one) { return source_of(one); }, source);
}

}  // namespace

std::string print(const Experiment& experiment, const Entry& entry) {
  Json kernel = std::visit([](const auto& one) { return source_of(one); }, entry.source);
  kernel.set("name", entry.name);
  const Json search = Json::object({{"strategy", experiment.strategy}, {"seed", experiment.options.seed}});
  const Json budget =
      Json::object({{"time", experiment.seconds}, {"trials", experiment.trials}, {"patience", experiment.patience}});
  return Json::object({{"device", experiment.device},
                       {"search", search},
                       {"budget", budget},
                       {"kernels", Json::array({kernel})}})
      .print();
}

}  // namespace deplo::engine
