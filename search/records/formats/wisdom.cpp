// Wisdom files of Kernel Launcher, KERNEL.wisdom: a line that names the parameters, then a line for each result.
//   {"version": "1.0", "objective": "time", "tunable_parameters": ["block_size_x", …], "key": "vector_add"}
//   {"config": [128, …], "problem_size": [1000], "time": 0.5, "environment": {"device_name": "A GPU", …}}
// https://github.com/KernelTuner/kernel_launcher (python/kernel_launcher/wisdom.py). The times are those of Kernel
// Tuner, in ms. Each problem size on each device is a space; the program writes only the fastest configurations.
#include <fmt/format.h>

#include <optional>

#include "core/error.h"
#include "search/records/formats/by_space.h"
#include "search/records/formats/formats.h"

namespace deplo::search {
namespace {

using records::Json;

[[noreturn]] void expected_of_wisdom(const std::string& place, std::string_view what, const Json& found) {
  throw Error(fmt::format("{}: expected {} in a wisdom file of Kernel Launcher, found {}", place, what,
                          records::excerpt(found)));
}

struct Head {
  std::string kernel;
  std::vector<std::string> parameters;
};

Head head_of(const records::JsonLine& line) {
  const Json& objective = records::member_of(line.json, "objective");
  if (objective != "time") expected_of_wisdom(line.place, "the objective \"time\"", objective);
  Head head{records::text_of(line.json, "key"), {}};
  const Json& parameters = records::member_of(line.json, "tunable_parameters");
  if (!parameters.is_array()) expected_of_wisdom(line.place, "a list 'tunable_parameters'", parameters);
  for (const Json& name : parameters) {
    if (!name.is_string()) expected_of_wisdom(line.place, "names in 'tunable_parameters'", name);
    head.parameters.push_back(name.get<std::string>());
  }
  return head;
}

std::vector<records::Setting> settings_of_config(const Head& head, const records::JsonLine& line) {
  const Json& config = records::member_of(line.json, "config");
  if (!config.is_array() || config.size() != head.parameters.size())
    expected_of_wisdom(line.place, fmt::format("a list 'config' of {} values", head.parameters.size()), config);
  std::vector<records::Setting> settings;
  for (std::size_t i = 0; i < config.size(); ++i)
    settings.emplace_back(head.parameters[i], records::value_json(config[i]));
  return settings;
}

}  // namespace

std::vector<Records> records::parse_wisdom(const Source& source) {
  BySpace spaces(source);
  std::optional<Head> head;
  each_json_line(source.text, source.place, "a wisdom file of Kernel Launcher", [&](const JsonLine& line) {
    if (!head) {
      head = head_of(line);
      return;
    }
    const std::string device = text_of(member_of(line.json, "environment"), "device_name");
    const Json& size = member_of(line.json, "problem_size");
    const Json& time = member_of(line.json, "time");
    const std::optional<double> ms = number_of(time);
    if (!ms && !time.is_null()) expected_of_wisdom(line.place, "a number 'time'", time);
    spaces.of(device + "\n" + compact(size), head->kernel, device, size.is_array() ? compact(size) : "")
        .add(settings_of_config(*head, line), timed(ms.value_or(0) * 1e3, Status::noop, "no time"));
  });
  return spaces.finish();
}

}  // namespace deplo::search
