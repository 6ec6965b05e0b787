#include <unistd.h>

#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/inspect/devices.h"
#include "core/text/text.h"

namespace deplo::apps {

void add_devices(Command command) {
  auto measure = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  command.describe(
      "List the devices for --device, and their limits.\nIf a kind of device cannot be used, the list says why.");
  command.flag("--measure", *measure,
               "Measure the peak rates of each device: copying, reading and f32 multiply-adds (half a second each).");
  command.flag("--json", *json, "Print one JSON document instead of the list.");
  command.examples("deplo devices --measure");
  command.run([measure, json] {
    print_result(*json ? devices_json(*measure) : devices_text(*measure, terminal_width(STDOUT_FILENO)));
  });
}

}  // namespace deplo::apps
