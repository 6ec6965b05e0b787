#include "core/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/config.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text/nearest.h"
#include "core/text/text.h"

namespace deplo {

std::string_view name(Dialect dialect) { return dialect == Dialect::cuda ? "cuda" : "opencl"; }

int compute_capability(std::string_view architecture) {
  const std::string_view number = architecture.substr(std::min(architecture.find('_') + 1, architecture.size()));
  int capability = 0;
  std::from_chars(number.data(), number.data() + number.size(), capability);
  return capability;
}

Target load_target(std::string_view wanted) {
  const std::vector<std::string> names = list_data("configs/targets", ".yaml");
  if (std::find(names.begin(), names.end(), wanted) == names.end())
    throw Error(
        fmt::format("expected a target ({}), found '{}'{}", join(names, ", "), wanted, did_you_mean(wanted, names)));
  const Config config = Config::load(data_folder() / "configs/targets" / (std::string(wanted) + ".yaml"));
  config.only({"source",
               "dialect",
               "cpu",
               "max_threads",
               "warp",
               "shared_bytes",
               "register_floats",
               "vector_lanes",
               "units",
               "cluster",
               "unit_registers",
               "unit_threads",
               "unit_blocks",
               "unit_shared_bytes",
               "shuffle",
               "atomic_add",
               "vector_add",
               "async_copy",
               "tma",
               "prefetch",
               "mma",
               "dot_pairs",
               "wgmma"});
  config.at("source").text();
  Target target;
  target.name = wanted;
  target.dialect = config.at("dialect").one_of({"opencl", "cuda"}) == "cuda" ? Dialect::cuda : Dialect::opencl;
  target.cpu = config.at("cpu").boolean();
  target.max_threads = config.at("max_threads").integer(1, 1 << 20);
  target.warp = config.at("warp").integer(1, 128);
  target.shared_bytes = config.at("shared_bytes").integer(0);
  target.register_floats = config.at("register_floats").integer(1);
  target.vector_lanes = config.at("vector_lanes").integer(1, 16);
  target.units = config.at("units").integer(1);
  target.cluster = config.at("cluster").integer(1, 16);
  target.unit_registers = config.at("unit_registers").integer(0);
  target.unit_threads = config.at("unit_threads").integer(0);
  target.unit_blocks = config.at("unit_blocks").integer(0);
  target.unit_shared_bytes = config.at("unit_shared_bytes").integer(0);
  target.shuffle = config.at("shuffle").boolean();
  target.atomic_add = config.at("atomic_add").boolean();
  target.vector_add = config.at("vector_add").boolean();
  target.async_copy = config.at("async_copy").boolean();
  target.tma = config.at("tma").boolean();
  target.prefetch = config.at("prefetch").boolean();
  target.mma = config.at("mma").boolean();
  target.dot_pairs = config.at("dot_pairs").boolean();
  target.wgmma = config.at("wgmma").boolean();
  return target;
}

}  // namespace deplo
