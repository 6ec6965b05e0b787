#include "engine/source/experiment_text.h"

#include "core/file.h"

namespace deplo::engine {
namespace {

Json with_symbols(Json json, const ir::Symbols& symbols) {
  if (!symbols.empty()) json.set("symbols", Json::object(symbols));
  return json;
}

Json json_of(const Expression& source) {
  return with_symbols(Json::object({{"expression", source.text}}), source.sizes);
}
Json json_of(const ExpressionFile& source) { return Json::object({{"expression", read_text(find_data(source.file))}}); }
Json json_of(const Pt2File& source) { return with_symbols(Json::object({{"pt2", source.file}}), source.sizes); }
Json json_of(const ModelBlock& source) {
  return Json::object({{"model", source.model}, {"layer", source.layer}, {"seq", source.seq}});
}
Json json_of(const LoopKernel& source) { return with_symbols(Json::object({{"kernel", source.name}}), source.symbols); }
Json json_of(const TileSource& source) {
  Json json = Json::object({{"tile", source.file}, {"grid", source.grid}});
  if (!source.entry.empty()) json.set("entry", source.entry);
  if (!source.arguments.empty()) json.set("arguments", Json::array(source.arguments));
  return json;
}
Json json_of(const foreign::Files& source) {
  Json json = Json::object({{"space", source.space}});
  if (!source.kernel.empty()) json.set("kernel_file", source.kernel);
  return json;
}

}  // namespace

Json entry_of(const Source& source) {
  return std::visit([](const auto& from) { return json_of(from); }, source.from);
}

std::string print(const Experiment& experiment, const Entry& entry) {
  Json kernel = entry_of(entry.source);
  for (const SourceOption& option : source_options())
    if (const auto text = option.print(entry.source.options)) {
      if (option.words.empty())
        kernel.set(std::string(option.name), *text == "true");
      else
        kernel.set(std::string(option.name), *text);
    }
  kernel.set("name", entry.name);
  const Json search = Json::object({{"strategy", experiment.strategy}, {"seed", experiment.options.seed}});
  Json budget =
      Json::object({{"time", experiment.seconds}, {"trials", experiment.trials}, {"patience", experiment.patience}});
  if (experiment.goal > 1) budget.set("goal", experiment.goal);
  return Json::object({{"device", experiment.device},
                       {"search", search},
                       {"budget", budget},
                       {"kernels", Json::array({kernel})}})
      .print();
}

}  // namespace deplo::engine
