#include "measure/worker/message.h"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "measure/fields.h"

// All fields of the records, by name, as in measure/fields.h. A field that is missing here is not sent.
namespace deplo::ir {
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

Json json_of(const KernelCode& candidate) {
  return {{"kernel", ir::print(candidate.kernel)},
          {"source", candidate.source},
          {"launch", candidate.launch ? Json(*candidate.launch) : Json()}};
}

template <class T>
std::optional<T> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

KernelCode candidate_of(const Json& json) {
  return {ir::parse(json.at("kernel").get_ref<const std::string&>()), json.at("source").get<ir::KernelSource>(),
          optional_of<Launch>(json.at("launch"))};
}

Json json_of(const Expectation& expected) {
  Json elements = Json::object();
  for (const auto& [name, element] : expected.elements) elements[name] = ir::tile_name(element);
  return {{"kernel", expected.kernel ? json_of(*expected.kernel) : Json()},
          {"files", expected.files},
          {"rounding", expected.rounding},
          {"elements", elements},
          {"expression", expected.expression},
          {"program", expected.program},
          {"ignored", expected.ignored},
          {"summed", expected.summed},
          {"name", expected.name}};
}

Expectation expectation_of(const Json& json) {
  const Json& kernel = json.at("kernel");
  std::map<std::string, ir::DType, std::less<>> elements;
  for (const auto& [name, element] : json.at("elements").items()) {
    const auto dtype = ir::parse_tile_dtype(element.get_ref<const std::string&>());
    if (!dtype) throw Error("expected an element type that deplo has, found " + element.dump());
    elements[name] = *dtype;
  }
  return {kernel.is_null() ? std::nullopt : std::optional(candidate_of(kernel)),
          json.at("files").get<InputFiles>(),
          json.at("rounding").get<InputFiles>(),
          std::move(elements),
          json.at("expression").get<std::string>(),
          json.at("program").get<std::string>(),
          json.at("ignored").get<std::set<std::string, std::less<>>>(),
          json.at("summed").get<std::set<std::string, std::less<>>>(),
          json.at("name").get<std::string>()};
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

std::string encode(const Task& task) {
  return dump({{"loop", ir::print(task.loop)},
               {"seed", task.seed},
               {"protocol", task.protocol},
               {"known", task.known},
               {"files", task.files},
               {"memory_rates", task.memory_rates},
               {"libraries", task.libraries},
               {"energy", task.energy},
               {"expected", json_of(task.expected)},
               {"tile", task.tile ? Json(*task.tile) : Json()}});
}

Task decode_task(std::string_view text) {
  return decode(text, [](const Json& json) {
    return Task{ir::parse(json.at("loop").get_ref<const std::string&>()),
                json.at("seed").get<std::uint64_t>(),
                json.at("protocol").get<Protocol>(),
                json.at("known").get<rules::Ceilings>(),
                json.at("files").get<InputFiles>(),
                json.at("memory_rates").get<bool>(),
                json.at("libraries").get<bool>(),
                expectation_of(json.at("expected")),
                json.at("energy").get<bool>(),
                optional_of<TileCall>(json.at("tile"))};
  });
}

std::string encode(const Opened& opened) {
  return dump({{"ceilings", opened.ceilings}, {"libraries", opened.libraries}});
}

Opened decode_opened(std::string_view text) {
  return decode(text, [](const Json& json) {
    return Opened{json.at("ceilings").get<rules::Ceilings>(), json.at("libraries").get<Libraries>()};
  });
}

std::string encode(std::span<const KernelCode> candidates, double best_us, double effort, std::uint64_t seed,
                   double seconds) {
  Json json{{"best_us", number(best_us)},
            {"effort", effort},
            {"seed", seed},
            {"seconds", number(seconds)},
            {"candidates", Json::array()}};
  for (const KernelCode& candidate : candidates) json["candidates"].push_back(json_of(candidate));
  return dump(json);
}

Ask decode_ask(std::string_view text) {
  return decode(text, [](const Json& json) {
    Ask ask{{},
            number(json.at("best_us")),
            json.at("effort").get<double>(),
            json.at("seed").get<std::uint64_t>(),
            number(json.at("seconds"))};
    if (!(ask.effort > 0 && ask.effort <= 1))
      throw Error(fmt::format("a worker's message: expected an effort in (0, 1], found {}", ask.effort),
                  Exit::environment);
    for (const Json& candidate : json.at("candidates")) ask.candidates.push_back(candidate_of(candidate));
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
