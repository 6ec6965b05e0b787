// Results of CLBlast's tuners and of CLTune, and CLBlast's database with the results of all kernels and devices.
//   {"kernel_family": "xgemm_1", "precision": "32", "arg_m": "1024", …, "clblast_device_name": "A GPU",
//    "results": [{"kernel": "Xgemm", "time": 1.25, "parameters": {"PRECISION": 32, "MWG": 64, …}}, …]}
//   {"sections": [{…the same members…, "parameter_names": ["MWG", …], "results": [["64,8,32", 1.25], …]}, …]}
// https://github.com/CNugteren/CLBlast (src/tuning/tuning.cpp, scripts/database/database/io.py). Times are in ms; a
// time that is not above 0 is a failure.
#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/text/split.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/json_text.h"
#include "search/records/formats/t4.h"

namespace deplo::search {
namespace {

using records::Json;
using records::text_of;

constexpr double no_time = 1e12;  // ms; a failed configuration may have the largest number as its time

Json result_of(const Json& parameters, const Json& time) {
  const double ms = records::number_of(time).value_or(0);
  const bool valid = ms > 0 && ms < no_time;
  Json own = Json::object();
  own["configuration"] = parameters;
  own["invalidity"] = valid ? "correct" : "runtime";
  own["times"]["runtimes"] = valid ? Json::array({time}) : Json::array();
  return own;
}

/// Returns {"MWG": 64, …} for "64,8,32" and the names.
Json parameters_of(const std::vector<std::string>& names, const std::string& values, const std::string& place) {
  const std::vector<std::string_view> texts = split_at(values, ',');
  if (texts.size() != names.size())
    throw Error(fmt::format("{}: expected {} values in CLBlast's database, found '{}'", place, names.size(),
                            values.substr(0, 80)));
  Json parameters = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) parameters[names[i]] = records::json_in_cell(std::string(texts[i]));
  return parameters;
}

/// Converts the results of either form to T4's.
Json results_of(const Json& section, const std::string& place) {
  std::vector<std::string> names;
  const Json& listed = records::member_of(section, "parameter_names");
  for (const Json& name : listed.is_array() ? listed : Json::array())
    if (name.is_string()) names.push_back(name.get<std::string>());
  check_parameters(names.size(), place);
  Json results = Json::array();
  for (const Json& result : records::member_of(section, "results")) {
    if (result.is_array() && result.size() == 2 && result[0].is_string())
      results.push_back(result_of(parameters_of(names, result[0].get<std::string>(), place), result[1]));
    else if (records::member_of(result, "parameters").is_object())
      results.push_back(result_of(result["parameters"], records::member_of(result, "time")));
    else
      throw Error(fmt::format("{}: expected parameters and a time in each result of CLBlast, found {}", place,
                              records::excerpt(result)));
  }
  return results;
}

/// The arguments of the computation: "m=1024" for the member arg_m, and so on.
Json problem_size_of(const Json& section) {
  Json size = Json::array();
  for (const auto& [name, value] : section.items())
    if (name.starts_with("arg_") && !value.is_structured())
      size.push_back(fmt::format("{}={}", name.substr(4), value.is_string() ? value.get<std::string>() : value.dump()));
  return size;
}

Records space_of(const Json& section, const records::Source& source) {
  if (!records::member_of(section, "results").is_array())
    throw Error(fmt::format("{}: expected a list 'results' of CLBlast, found none", source.place));
  Json t4 = Json::object();
  t4["metadata"]["timeunit"] = "milliseconds";
  t4["device_name"] = text_of(section, section.contains("clblast_device_name") ? "clblast_device_name" : "device");
  std::string kernel = text_of(section, "kernel_family");
  if (kernel.empty() && !section["results"].empty()) kernel = text_of(section["results"][0], "kernel");  // CLTune
  t4["results"] = results_of(section, source.place);
  // The database names the kernel once per section, and its parameters lack the precision.
  if (const std::string own = text_of(section, "kernel"); !own.empty() && own != kernel) kernel += " " + own;
  if (section.contains("parameter_names")) kernel += " " + text_of(section, "precision");
  t4["kernel_name"] = kernel;
  if (Json size = problem_size_of(section); !size.empty()) t4["problem_size"] = std::move(size);
  return records::read_t4(std::move(t4), source.place, source.reading);
}

}  // namespace

std::vector<Records> records::parse_clblast_results(const Source& source) {
  return {space_of(parse_json(source.text, source.place, "results of CLBlast"), source)};
}

std::vector<Records> records::parse_clblast_database(const Source& source) {
  const Json database = parse_json(source.text, source.place, "CLBlast's database");
  std::vector<Records> spaces;
  for (const Json& section : member_of(database, "sections")) {
    // computed from other devices' results
    const bool is_default = text_of(section, "clblast_device_name") == "default";
    if (!is_default && !member_of(section, "results").empty()) spaces.push_back(space_of(section, source));
  }
  if (spaces.empty()) throw Error(fmt::format("{}: expected sections with results, found none", source.place));
  return spaces;
}

}  // namespace deplo::search
