#include "measure/worker/message.h"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>

#include "measure/fields.h"

// Values that are absent are null.
namespace nlohmann {
template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& to, const std::optional<T>& value) { to = value ? json(*value) : json(); }
  static void from_json(const json& from, std::optional<T>& value) {
    value = from.is_null() ? std::nullopt : std::optional(from.get<T>());
  }
};
}  // namespace nlohmann

// Programs are sent as text, element types by name. Of other records, all fields are listed, by name, as in
// measure/fields.h. A field that is missing here is not sent.
namespace deplo::ir {
void to_json(nlohmann::json& json, const Program& program) { json = print(program); }
void from_json(const nlohmann::json& json, Program& program) { program = parse(json.get_ref<const std::string&>()); }
void to_json(nlohmann::json& json, DType dtype) { json = tile_name(dtype); }
void from_json(const nlohmann::json& json, DType& dtype) {
  const auto found = parse_tile_dtype(json.get_ref<const std::string&>());
  if (!found) throw Error("expected an element type that deplo has, found " + json.dump());
  dtype = *found;
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSource::TensorMap, buffer, shape, strides, box, swizzle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSource, entry, text, blocks, threads, cluster, shared_bytes, dynamic_shared,
                                   tensor_maps, zeroed, restored, dry_run, architecture_specific)
}  // namespace deplo::ir

namespace deplo::rules {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ceilings, copy_gb_s, read_gb_s, fp32_gflop_s)
}  // namespace deplo::rules

namespace deplo::measure {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Protocol, tolerance, inputs, full_run_ms, slow, slow_us, samples, sample_us,
                                   discard_stop, early_stop, screen_clock, finalists, max_finalists, finalist_margin,
                                   rounds, max_rounds, tie, confirm_sample_us, confirm_clock, warm_samples, max_batch,
                                   plausible)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch::Scalar, position, bytes, local_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch::Symbol, buffer, name, is_parameter)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Launch, blocks, threads, scalars, symbols, options)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelCode, kernel, source, launch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Expectation, kernel, files, rounding, elements, expression, program, ignored, summed,
                                   name)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TileCall::Argument, buffer, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TileCall, problem, bytecode, entry, arguments, grid)
namespace {

using Json = nlohmann::json;

template <class Record>
concept Listed = std::same_as<Record, DeviceInfo> || std::same_as<Record, Resources> || std::same_as<Record, Timing>;

}  // namespace

// The JSON library finds these two functions through the namespace of the record.
template <Listed Record>
void to_json(Json& json, const Record& record) {
  auto field = [&](std::string_view name, const auto& member, bool /*known*/ = true) { json[name] = member; };
  list_fields(record, field);
}

template <Listed Record>
void from_json(const Json& json, Record& record) {
  auto field = [&](std::string_view name, auto& member, bool /*known*/ = true) { json.at(name).get_to(member); };
  list_fields(record, field);
}

}  // namespace deplo::measure

namespace deplo::measure::worker {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryName, library, version, precision, threads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Libraries, found, none)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Task, loop, seed, protocol, known, files, memory_rates, libraries, expected, energy,
                                   tile)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Opened, ceilings, libraries)
namespace {

/// Returns the text of the JSON. Replaces invalid UTF-8, because a compiler's message may contain any bytes.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Parses the text and returns the result of `read`. Exceptions of the JSON library become Error(environment).
template <class F>
auto decode(std::string_view text, F read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& e) {
    throw Error(std::string("a worker's message: ") + e.what(), Exit::environment);
  }
}

// JSON has no infinity, so infinity becomes null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
double number(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

Json json_of(const Reply& reply) {
  Json json{{"resources", reply.resources}, {"build_ms", reply.build_ms}};
  if (reply.timing.ok()) {
    json["timing"] = reply.timing.value();
    json["timing"]["first_launch_ms"] = reply.timing.value().first_launch_ms;
  } else {
    json["failure"] = {status_name(reply.timing.failure().status), reply.timing.failure().message};
  }
  return json;
}

Result<Timing> timing_of(const Json& json) {
  if (json.contains("timing")) {
    auto timing = json.at("timing").get<Timing>();
    json.at("timing").at("first_launch_ms").get_to(timing.first_launch_ms);
    return timing;
  }
  const Json& failure = json.at("failure");
  return Failure{parse_status(failure.at(0).get<std::string>()), failure.at(1).get<std::string>()};
}

}  // namespace

std::string encode(const Hello& hello) { return dump({{"info", hello.info}, {"dialect", name(hello.dialect)}}); }

Hello decode_hello(std::string_view text) {
  return decode(text, [](const Json& json) {
    const auto dialect = parse_dialect(json.at("dialect").get<std::string>());
    if (!dialect) throw Error("expected a dialect that deplo has, found " + json.at("dialect").dump());
    return Hello{json.at("info").get<DeviceInfo>(), *dialect};
  });
}

std::string encode(const Error& error) { return dump({error.what(), static_cast<int>(error.exit())}); }

Error decode_error(std::string_view text) {
  return decode(text, [](const Json& json) {
    const Exit exit = json.at(1) == static_cast<int>(Exit::user) ? Exit::user : Exit::environment;
    return Error(json.at(0).get<std::string>(), exit);
  });
}

std::string encode(const Task& task) { return dump(task); }
Task decode_task(std::string_view text) {
  return decode(text, [](const Json& json) { return json.get<Task>(); });
}

std::string encode(const Opened& opened) { return dump(opened); }
Opened decode_opened(std::string_view text) {
  return decode(text, [](const Json& json) { return json.get<Opened>(); });
}

std::string encode(std::span<const KernelCode> candidates, double best_us, double effort, std::uint64_t seed,
                   double seconds) {
  return dump({{"best_us", number(best_us)},
               {"effort", effort},
               {"seed", seed},
               {"seconds", number(seconds)},
               {"candidates", std::vector<Json>(candidates.begin(), candidates.end())}});
}

Ask decode_ask(std::string_view text) {
  return decode(text, [](const Json& json) {
    Ask ask{json.at("candidates").get<std::vector<KernelCode>>(), number(json.at("best_us")),
            json.at("effort").get<double>(), json.at("seed").get<std::uint64_t>(), number(json.at("seconds"))};
    if (!(ask.effort > 0 && ask.effort <= 1))
      throw Error(fmt::format("a worker's message: expected an effort in (0, 1], found {}", ask.effort),
                  Exit::environment);
    return ask;
  });
}

std::string encode(std::span<const Reply> replies) {
  Json json = Json::array();
  for (const Reply& reply : replies) json.push_back(json_of(reply));
  return dump(json);
}

std::vector<Reply> decode_replies(std::string_view text, std::size_t count) {
  std::vector<Reply> replies = decode(text, [](const Json& json) {
    std::vector<Reply> all;
    for (const Json& reply : json)
      all.push_back({timing_of(reply), reply.at("resources").get<Resources>(), reply.at("build_ms").get<double>()});
    return all;
  });
  if (replies.size() != count)
    throw Error(
        "a worker's message: expected " + std::to_string(count) + " replies, found " + std::to_string(replies.size()),
        Exit::environment);
  return replies;
}

}  // namespace deplo::measure::worker
