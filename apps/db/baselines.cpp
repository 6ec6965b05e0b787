#include "apps/db/baselines.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/revision.h"
#include "engine/source/source.h"
#include "measure/store/store.h"

namespace deplo::apps {
namespace {

using Fields = nlohmann::json;

struct Line {
  measure::DeviceInfo device;
  measure::KernelRecord kernel;
  measure::BaselineRecord baseline;
};

/// The kernels that expressions become; nullopt for an expression that becomes several.
using Kernels = std::map<std::string, std::optional<ir::Program>>;

/// Returns the kernel of an expression, which is lowered only once.
const std::optional<ir::Program>& kernel_of(const std::string& expression, Kernels& known) {
  const auto [at, fresh] = known.try_emplace(expression);
  if (fresh) {
    ir::Module module = engine::read_module({engine::Expression{expression, "expression"}});
    if (module.kernels.size() == 1) at->second = std::move(module.kernels.front());
  }
  return at->second;
}

/// Returns the date with "Z" at its end, like deplo's own dates. Python's dates end in "+00:00".
std::string utc(std::string date) {
  if (date.ends_with("+00:00")) date.replace(date.size() - 6, 6, "Z");
  return date;
}

double number_or_zero(const Fields& json, const char* field) {
  const auto found = json.find(field);
  return found == json.end() || found->is_null() ? 0 : found->get<double>();
}

std::int64_t integer(const Fields& value, const char* field) {
  if (!value.is_number_integer())
    throw Error(fmt::format("expected '{}' as an integer, found {}", field, value.type_name()));
  return value.get<std::int64_t>();
}

std::int64_t integer_or_zero(const Fields& json, const char* field) {
  const auto found = json.find(field);
  return found == json.end() || found->is_null() ? 0 : integer(*found, field);
}

Line read_line(const Fields& json, const ir::Program& kernel) {
  Line line;
  line.kernel = {json.at("kernel").get<std::string>(), print(kernel)};
  measure::BaselineRecord& baseline = line.baseline;
  const auto library = json.at("library").get<std::string>();
  baseline.library = library + " " + json.at("variant").get<std::string>();
  baseline.version = json.at("version").get<std::string>();
  baseline.precision = json.at("precision").get<std::string>();
  baseline.threads = integer(json.at("threads"), "threads");
  baseline.status = parse_status(json.at("status").get<std::string>());
  baseline.message = json.at("message").get<std::string>();
  baseline.samples = json.at("samples").get<std::vector<double>>();
  if (baseline.status == Status::ok) baseline.median_us = json.at("median_us").get<double>();
  if (baseline.status == Status::ok && !(baseline.median_us > 0))
    throw Error(fmt::format("expected a positive time, found {}", baseline.median_us));
  baseline.warm_us = number_or_zero(json, "warm_us");
  baseline.batch = integer_or_zero(json, "batch");
  baseline.sets = integer_or_zero(json, "sets");
  baseline.protocol = json.at("protocol").get<std::string>();
  baseline.created = utc(json.at("date").get<std::string>());
  line.device.backend = library;
  line.device.name = json.at("device").get<std::string>();
  line.device.cpu = baseline.threads > 0;
  return line;
}

std::vector<Line> read(const std::string& file, ImportedBaselines& result) {
  std::ifstream stream(file);
  if (!stream) throw Error(fmt::format("{}: expected a file that can be read, found none", file));
  std::vector<Line> lines;
  Kernels kernels;
  std::string text;
  for (std::size_t number = 1; std::getline(stream, text); ++number) {
    try {
      const Fields json = Fields::parse(text);
      if (json.at("variant") == "ours")
        ++result.ours;
      else if (const auto& kernel = kernel_of(json.at("expression").get_ref<const std::string&>(), kernels))
        lines.push_back(read_line(json, *kernel));
      else
        ++result.several;
    } catch (const Fields::exception& error) {
      throw Error(fmt::format("{}:{}: expected a line of torch_suite.py: {}", file, number, error.what()));
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", file, number, error.what()), error.exit());
    }
  }
  if (lines.empty())
    throw Error(
        fmt::format("{}: expected lines of torch_suite.py with expressions that become one kernel, found none", file));
  return lines;
}

}  // namespace

bool is_baselines(const std::string& file) {
  if (!file.ends_with(".jsonl")) return false;
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return true;  // reading the file will report the error
  return line.find("\"library\"") != std::string::npos || line.find("\"expression\"") != std::string::npos;
}

ImportedBaselines import_baselines(const std::string& file, const std::string& path) {
  ImportedBaselines result;
  const std::vector<Line> lines = read(file, result);  // all lines are read before the store is touched
  measure::Store store = measure::Store::open(path);
  std::map<std::int64_t, std::int64_t> runs;  // by device
  std::set<std::int64_t> kernels;
  for (const Line& line : lines) {
    const std::int64_t device = store.add_device(line.device);
    const auto [run, fresh] = runs.try_emplace(device);
    if (fresh)
      run->second =
          store.add_run({device, std::string(engine::revision()), "imported from " + file, "imported", 0, ""});
    measure::BaselineRecord baseline = line.baseline;
    baseline.run = run->second;
    baseline.kernel = store.add_kernel(line.kernel);
    kernels.insert(baseline.kernel);
    store.append(baseline);
    ++result.times;
  }
  result.kernels = kernels.size();
  return result;
}

}  // namespace deplo::apps
