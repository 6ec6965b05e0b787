#include "ir/torch/pt2/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace deplo::ir::torch::pt2 {
namespace {

constexpr std::string_view how_to_export =
    "export the module: torch.export.save(torch.export.export(module, args), 'FILE.pt2')";

// Says what an archive without a program is.
std::string_view other_kind(const Zip& archive) {
  constexpr auto kinds = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"/data/aotinductor/", "compiled code of AOTInductor"},
       {"/constants.pkl", "a TorchScript module"},
       {"/data.pkl", "a file of torch.save (a state dictionary or a pickled module)"}});
  const std::vector<std::string> names = archive.names();
  for (const auto& [part, kind] : kinds)
    if (std::ranges::any_of(names, [&](const std::string& name) { return name.find(part) != std::string::npos; }))
      return kind;
  return "";
}

}  // namespace

void check_begin(const std::filesystem::path& file) {
  constexpr std::string_view zip = "PK";
  std::string begin(zip.size(), '\0');
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) return;
  if (!std::ifstream(file, std::ios::binary).read(begin.data(), std::ssize(zip)) || begin == zip) return;
  const std::string_view kind = file.extension() == ".onnx" ? "an ONNX model"
                                : begin[0] == '\x80'        ? "a pickle"
                                                            : "another format";
  throw Error(
      fmt::format("{}: expected a zip archive of torch.export.save, found {}; {}", file.string(), kind, how_to_export));
}

Place place_of_program(const Zip& archive) {
  constexpr std::string_view old = "serialized_exported_program.json", folder = "models/", suffix = ".json";
  if (const std::string entry = archive.find_suffix(old); !entry.empty())
    return {entry, entry.substr(0, entry.size() - old.size())};
  std::vector<Place> places;
  for (const std::string& entry : archive.names()) {
    const std::size_t at = entry.starts_with(folder) ? 0 : entry.find("/models/") + 1;
    if ((at == 0 && !entry.starts_with(folder)) || !entry.ends_with(suffix)) continue;
    const std::size_t begin = at + folder.size();
    places.push_back({entry, entry.substr(0, at), entry.substr(begin, entry.size() - suffix.size() - begin)});
  }
  if (const auto found = std::ranges::find(places, "model", &Place::name); found != places.end()) return *found;
  if (places.size() == 1) return places[0];
  if (!places.empty())
    throw Error(fmt::format("{}: expected one program, or one with the name 'model', found '{}' and '{}'",
                            archive.where(), places[0].name, places[1].name));
  const std::string_view kind = other_kind(archive);
  if (kind.empty())
    throw Error(archive.where() + ": expected an archive of torch.export.save, found no 'models/model.json' inside");
  throw Error(
      fmt::format("{}: expected an archive of torch.export.save, found {}; {}", archive.where(), kind, how_to_export));
}

}  // namespace deplo::ir::torch::pt2
