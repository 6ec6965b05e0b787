#include "engine/source/experiment_text.h"

#include <nlohmann/json.hpp>

#include "core/file.h"

namespace deplo::engine {
namespace {

using Json = nlohmann::ordered_json;

Json source_of(const Expression& source) { return {{"expression", source.text}}; }
Json source_of(const Pt2File& source) { return {{"pt2", source.file}}; }
Json source_of(const ModelBlock& source) {
  return {{"model", source.model}, {"layer", source.layer}, {"seq", source.seq}};
}
Json source_of(const ExpressionFile& source) { return {{"expression", read_file(find_data(source.file))}}; }
Json source_of(const LoopKernel& source) {
  Json json{{"kernel", source.name}};
  if (!source.symbols.empty()) json["symbols"] = source.symbols;
  return json;
}
Json source_of(const GraphSource& source) {
  return std::visit([](const auto& one) { return source_of(one); }, source);
}

}  // namespace

std::string print(const Experiment& experiment, const Entry& entry) {
  Json kernels = std::visit([](const auto& one) { return source_of(one); }, entry.source);
  kernels["name"] = entry.name;
  const Json text{
      {"device", experiment.device},
      {"search", {{"strategy", experiment.strategy}, {"seed", experiment.options.seed}}},
      {"budget", {{"time", experiment.seconds}, {"trials", experiment.trials}, {"patience", experiment.patience}}},
      {"kernels", Json::array({kernels})}};
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace deplo::engine
