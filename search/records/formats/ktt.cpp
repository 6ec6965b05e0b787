// KTT's results, as JSON and as XML. (These are KTT's own outputs; json.cpp reads T4, which KTT also writes.)
//   {"Metadata": {"Device", "TimeUnit"}, "Results": [{"KernelName", "Status", "TotalDuration", "TotalOverhead",
//    "Configuration": [{"Name", "IsDouble", "Value"}], "ComputationResults": [{"EnergyConsumption", "PowerUsage",
//    …}]}]}
//   <TuningData><Metadata Device="" TimeUnit=""/><Results><KernelResult KernelName="" Status="" …><Configuration>
//    <Pair Name="" IsDouble="" Value=""/></Configuration><ComputationResults><ComputationResult …/>…
// https://github.com/HiPerCoRe/KTT (Source/Output/JsonConverters.cpp, XmlConverters.cpp). All times are in the
// TimeUnit.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <utility>

#include "core/error.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/json_text.h"
#include "search/records/formats/t4.h"

namespace deplo::search {
namespace {

using records::Json;
using records::json_in_cell;
using records::text_of;

constexpr std::string_view results_of_ktt = "results of KTT";

/// Translates CompilationFailed, ComputationFailed, ValidationFailed and DeviceLimitsExceeded to T4's words.
std::string invalidity_of(const std::string& status) {
  return status.empty() || status == "Ok"     ? "correct"
         : status.starts_with("Compilation")  ? "compile"
         : status.starts_with("Validation")   ? "correctness"
         : status.starts_with("DeviceLimits") ? "constraints"
                                              : "runtime";
}

Json measurement(const char* name, const Json& value, const std::string& unit) {
  return Json::object({{"name", name}, {"value", value}, {"unit", unit}});
}

/// The sum of the member over the kernel's launches; null if a launch lacks the member.
Json sum_of(const Json& launches, const char* member) {
  if (!launches.is_array() || launches.empty()) return {};
  double sum = 0;
  for (const Json& launch : launches) {
    const std::optional<double> value = records::number_of(records::member_of(launch, member));
    if (!value) return {};
    sum += *value;
  }
  return sum;
}

Json t4_result_of(const Json& result, const std::string& unit, const std::string& place) {
  Json own = Json::object();
  own["configuration"] = Json::object();
  const Json& pairs = records::member_of(result, "Configuration");
  check_parameters(pairs.size(), place);
  for (const Json& pair : pairs)
    if (const std::string name = text_of(pair, "Name"); !name.empty())
      own["configuration"][name] = records::member_of(pair, "Value");
  const Json& duration = records::member_of(result, "TotalDuration");
  const bool ok = (own["invalidity"] = invalidity_of(text_of(result, "Status"))) == "correct";
  own["times"]["runtimes"] = ok ? Json::array({duration}) : Json::array();
  own["times"]["framework"] = records::member_of(result, "TotalOverhead");
  own["objectives"] = Json::array({"TotalDuration"});
  own["measurements"] = Json::array({measurement("TotalDuration", duration, unit)});
  for (const char* counter : {"EnergyConsumption", "PowerUsage"})
    if (Json sum = sum_of(records::member_of(result, "ComputationResults"), counter); sum.is_number())
      own["measurements"].push_back(measurement(counter, sum, ""));
  return own;
}

/// Returns a space for each kernel.
std::vector<Records> spaces_of(const Json& ktt, const records::Source& source) {
  const Json& metadata = records::member_of(ktt, "Metadata");
  const std::string unit = text_of(metadata, "TimeUnit");
  const Json& results = records::member_of(ktt, "Results");
  if (!results.is_array())
    throw Error(fmt::format("{}: expected a list 'Results' in {}, found none", source.place, results_of_ktt));
  std::vector<std::string> kernels;
  std::map<std::string, Json> by_kernel;
  for (const Json& result : results) {
    if (!records::member_of(result, "Configuration").is_array())
      throw Error(
          fmt::format("{}: expected a Configuration in each of the {}, found none", source.place, results_of_ktt));
    const auto [kernel, is_new] = by_kernel.try_emplace(text_of(result, "KernelName"), Json::array());
    if (is_new) kernels.push_back(kernel->first);
    kernel->second.push_back(t4_result_of(result, unit, source.place));
  }
  std::vector<Records> spaces;
  for (const std::string& kernel : kernels) {
    const auto has_parameters = [](const Json& result) { return !result["configuration"].empty(); };
    if (std::ranges::none_of(by_kernel[kernel], has_parameters)) continue;
    Json t4 = Json::object();
    t4["metadata"]["timeunit"] = unit;
    t4["device_name"] = text_of(metadata, "Device");
    t4["kernel_name"] = kernel;
    t4["results"] = std::move(by_kernel[kernel]);
    spaces.push_back(records::read_t4(std::move(t4), source.place, source.reading));
  }
  if (spaces.empty())
    throw Error(fmt::format("{}: expected {}, found no configurations", source.place, results_of_ktt));
  return spaces;
}

Json pair_of(const pugi::xml_node& pair) {
  Json json = Json::object({{"Name", pair.attribute("Name").value()}});
  const Json value = json_in_cell(pair.attribute("Value").value());
  // pugixml, which writes KTT's XML, prints 1.0 as 1.
  if (pair.attribute("IsDouble").as_bool() && value.is_number())
    json["Value"] = value.get<double>();
  else
    json["Value"] = value;
  return json;
}

Json result_of(const pugi::xml_node& node) {
  Json result = Json::object(
      {{"KernelName", node.attribute("KernelName").value()}, {"Status", node.attribute("Status").value()}});
  for (const char* key : {"TotalDuration", "TotalOverhead"})
    if (const pugi::xml_attribute attribute = node.attribute(key)) result[key] = json_in_cell(attribute.value());
  result["Configuration"] = Json::array();
  for (const pugi::xml_node& pair : node.child("Configuration").children("Pair"))
    result["Configuration"].push_back(pair_of(pair));
  result["ComputationResults"] = Json::array();
  for (const pugi::xml_node& launch : node.child("ComputationResults").children("ComputationResult")) {
    Json json = Json::object();
    for (const char* counter : {"EnergyConsumption", "PowerUsage"})
      if (const pugi::xml_attribute attribute = launch.attribute(counter))
        json[counter] = json_in_cell(attribute.value());
    result["ComputationResults"].push_back(std::move(json));
  }
  return result;
}

}  // namespace

std::vector<Records> records::parse_ktt_json(const Source& source) {
  return spaces_of(parse_json(source.text, source.place, results_of_ktt), source);
}

std::vector<Records> records::parse_ktt_xml(const Source& source) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(source.text.data(), source.text.size());
  if (!parsed)
    throw Error(fmt::format("{}: expected {} in XML: {} at byte {}", source.place, results_of_ktt, parsed.description(),
                            parsed.offset));
  const pugi::xml_node root = document.child("TuningData");
  Json ktt = Json::object();
  ktt["Metadata"]["Device"] = root.child("Metadata").attribute("Device").value();
  ktt["Metadata"]["TimeUnit"] = root.child("Metadata").attribute("TimeUnit").value();
  ktt["Results"] = Json::array();
  for (const pugi::xml_node& node : root.child("Results").children("KernelResult"))
    ktt["Results"].push_back(result_of(node));
  return spaces_of(ktt, source);
}

}  // namespace deplo::search
