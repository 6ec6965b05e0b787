#include "search/strategies/exec/exec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "core/text/json_builder.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "search/count.h"
#include "search/records/formats/parts/json_text.h"
#include "search/records/spelling.h"
#include "search/strategies/exec/child.h"
#include "search/strategies/tree.h"
#include "search/trails.h"

namespace deplo::search::exec {
namespace {

using Message = nlohmann::ordered_json;

constexpr std::string_view prefix = "exec:";
constexpr int max_repeats = 10'000;          // replies in a row without a new candidate
constexpr std::size_t max_listed = 300'000;  // candidates in one answer
constexpr std::size_t shown_columns = 120;
// of a message of the program, because printing a message recurses
constexpr JsonLimits limits = {.levels = 128, .values = std::size_t{1} << 24, .members = 2000};

constexpr std::array parameters = {
    number("deadline", "60", 0.01, 86400, "60", "seconds that the program may take for an answer"),
};

Message json_of(const Value& value) {
  return std::visit([](const auto& held) { return Message(held); }, value);
}

/// Hyperparameters are words in YAML and flags. A word that is JSON is sent to the program as a JSON value.
Message json_of_word(const std::string& word) {
  Message parsed = Message::parse(word, nullptr, false);
  return parsed.is_discarded() ? Message(word) : parsed;
}

Message config_of(const Trail& trail) {
  Message config = Message::object();
  for (const Choice& choice : trail) config[choice.knob] = json_of(choice.value);
  return config;
}

Message time_of(const Outcome& outcome) {
  return outcome.ok() && std::isfinite(outcome.microseconds) ? Message(outcome.microseconds) : Message();
}

/// Names, for people, a number because of which the line is not JSON; "" if it is not JSON for another reason.
std::string_view number_that_is_not_json(const std::string& line) {
  if (records::may_have_nan(line) && Message::accept(records::without_nan(line)))
    return "; NaN and Infinity, which Python's json writes, are not JSON";
  try {
    std::ignore = Message::parse(line);
  } catch (const Message::out_of_range&) {
    return "; it has a number that is too large";
  } catch (const Message::exception&) {
  }
  return "";
}

class Exec final : public Searcher {
 public:
  Exec(const Space& space, std::string command, const Settings& settings, const SearchOptions& options)
      : space_(space),
        tree_(space),
        rng_(settings.seed()),
        deadline_(settings.number("deadline")),
        knobs_(space.knobs()),
        child_(std::move(command)) {
    for (const KnobInfo& knob : knobs_) integers_[knob.name] = knob.kind != "text";
    try {
      send(hello(options));
      greet();
    } catch (const Interrupted&) {
      finished_ = true;
    }
  }
  ~Exec() override { child_.send_last(R"({"type":"bye"})"); }
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;

  std::vector<Candidate> ask(std::size_t n) override {
    try {
      for (int repeats = 0; n > 0 && !finished_; ++repeats) {
        if (is_exhausted()) return {};
        if (repeats == max_repeats)
          child_.fail(fmt::format("asked {} times in a row only for candidates that it already knows", max_repeats));
        std::vector<Candidate> fresh = ask_once(n);
        if (!fresh.empty()) return fresh;
      }
    } catch (const Interrupted&) {
      finished_ = true;  // the search loop notices the signal, or that its time has ended
    }
    return {};
  }

  bool has_ended() const override { return finished_ && !is_exhausted(); }

  void set_end(std::chrono::steady_clock::time_point end) override { end_ = end; }

  void tell(const Candidate& candidate, const Outcome& outcome) override {
    const std::size_t before = known_.size();
    const std::size_t id = id_of(candidate->trail());
    Known& known = known_[id];
    const bool asked = known.asked > 0;
    if (!asked) tree_.tell(candidate, 0);
    known.asked = std::max(known.asked, candidate.effort);
    if (candidate.effort >= known.effort) {
      known.told = true;
      known.outcome = outcome;
      known.effort = candidate.effort;
    }
    Message message = {{"type", "tell"}, {"id", id}};
    if (id >= before || !asked) message["config"] = config_of(known.trail);
    send(with_outcome(std::move(message), outcome, candidate.effort));
  }

  bool learns() const override { return learns_; }

  bool warm_start(std::span<const SourceTask> sources) override {
    if (!learns_) return false;
    Message tasks = Message::array();
    for (const SourceTask& source : sources) {
      Message trials = Message::array();
      for (const Experience& trial : source)
        trials.push_back({{"config", config_of(trial.trail)},
                          {"us", std::isfinite(trial.microseconds) ? Message(trial.microseconds) : Message()}});
      tasks.push_back(std::move(trials));
    }
    send({{"type", "warm_start"}, {"sources", std::move(tasks)}});
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// True if every candidate was asked or told, with full effort.
  bool is_exhausted() const { return tree_.root().finished && !partial_; }

  struct Known {
    Trail trail;
    double asked = 0;  // the largest effort; 0: never asked
    bool told = false;
    double effort = 0;  // effort of the outcome
    Outcome outcome = {};
  };

  Message hello(const SearchOptions& options) const {
    Message given = Message::object(), knobs = Message::array();
    for (const auto& [name, value] : options.parameters)
      if (name != parameters[0].name) given[name] = json_of_word(value);
    for (const KnobInfo& knob : knobs_) {
      Message values = Message::array();
      for (const Value& value : knob.options) values.push_back(json_of(value));
      knobs.push_back(
          {{"name", knob.name}, {"kind", knob.kind}, {"options", std::move(values)}, {"meaning", knob.meaning}});
    }
    const Briefing& about = options.about;
    return {{"type", "hello"},
            {"protocol", protocol_version},
            {"seed", options.seed & 0xffffffff},  // the range of NumPy's seeds
            {"parameters", std::move(given)},
            {"budget",
             {{"trials", about.trials > 0 ? Message(about.trials) : Message()},
              {"seconds", about.seconds > 0 ? Message(about.seconds) : Message()}}},
            {"kernel", {{"name", about.kernel}, {"text", about.text}}},
            {"device", about.device},
            {"objective", about.objective.empty() ? "time (µs)" : about.objective},
            {"knobs", std::move(knobs)}};
  }

  void greet() {
    const Message reply = receive(Clock::now());
    if (text(reply, "type") != "hello") nonsense("the message \"hello\"", reply);
    if (const Message& protocol = member(reply, "protocol"); protocol != protocol_version)
      nonsense(fmt::format("protocol {}", protocol_version), protocol);
    if (const auto learns = reply.find("learns"); learns != reply.end()) learns_ = *learns == true;
  }

  std::vector<Candidate> ask_once(std::size_t n) {
    child_.expect_silence();
    send({{"type", "ask"}, {"n", n}});
    const auto start = Clock::now();
    for (;;) {
      const Message reply = receive(start);
      const std::string type = text(reply, "type");
      if (type == "query") {
        send(answer(reply));
      } else if (type == "done") {
        finished_ = true;
        return {};
      } else if (type == "candidates") {
        return take(member(reply, "candidates"), n);
      } else {
        nonsense("\"candidates\", \"query\" or \"done\"", reply);
      }
    }
  }

  /// Tells the program what the candidates of its reply became. Returns those that are new.
  std::vector<Candidate> take(const Message& asked, std::size_t n) {
    if (!asked.is_array() || asked.empty() || asked.size() > n)
      nonsense(fmt::format("a list of {}", n == 1 ? "one candidate" : fmt::format("1 to {} candidates", n)), asked);
    std::vector<Candidate> fresh;
    Message became = Message::array();
    for (const Message& message : asked) {
      Candidate candidate = candidate_of(message);
      if (!candidate) {
        became.push_back(Message());
        continue;
      }
      const std::size_t id = id_of(candidate->trail());
      Known& known = known_[id];
      Message entry = {{"id", id}, {"config", config_of(known.trail)}};
      if (candidate.effort > known.asked) {
        if (known.asked == 0) tree_.tell(candidate, 0);
        known.asked = candidate.effort;
        partial_ = partial_ || candidate.effort < 1;
        fresh.push_back(std::move(candidate));
      } else {
        entry["repeated"] = true;
        if (known.told) entry = with_outcome(std::move(entry), known.outcome, known.effort);
      }
      became.push_back(std::move(entry));
    }
    send({{"type", "became"}, {"candidates", std::move(became)}});
    return fresh;
  }

  /// The candidate that the program asks for; nullptr: it asks for a random candidate, and none is left.
  Candidate candidate_of(const Message& asked) {
    if (!asked.is_object()) nonsense("a candidate with \"id\", \"wish\" or \"random\"", asked);
    double effort = 1;
    if (const auto given = asked.find("effort"); given != asked.end()) {
      effort = given->is_number() ? given->get<double>() : 0;
      if (!(effort > 0 && effort <= 1)) nonsense("an effort in (0, 1]", *given);
    }
    Candidate candidate;
    if (asked.contains("id"))
      candidate = replay(space_, known_[id_in(asked["id"])].trail);
    else if (asked.contains("wish"))
      candidate = replay(space_, wish_of(asked["wish"]));
    else if (asked.contains("random"))
      candidate = tree_.draw(rng_);
    else
      nonsense("a candidate with \"id\", \"wish\" or \"random\"", asked);
    candidate.effort = effort;
    return candidate;
  }

  Message answer(const Message& query) {
    const std::string what = text(query, "query");
    if (what == "random") return listed(random_candidates(member(query, "n")));
    if (what == "repair") return listed({replay(space_, wish_of(member(query, "wish")))->trail()});
    if (what == "all") return all();
    if (what != "neighbours") nonsense("\"random\", \"repair\", \"all\" or \"neighbours\"", query);
    Message wishes = Message::array();
    const Moves moves(space_, known_[id_in(member(query, "id"))].trail);
    for (const Trail& wish : moves.neighbours()) wishes.push_back(config_of(wish));
    return {{"type", "answer"}, {"wishes", std::move(wishes)}};
  }

  Message listed(const std::vector<Trail>& trails) {
    Message candidates = Message::array();
    for (const Trail& trail : trails) candidates.push_back({{"id", id_of(trail)}, {"config", config_of(trail)}});
    return {{"type", "answer"}, {"candidates", std::move(candidates)}};
  }

  std::vector<Trail> random_candidates(const Message& count) {
    if (!count.is_number_unsigned() || count > max_listed)
      nonsense(fmt::format("a number of at most {} candidates", max_listed), count);
    std::vector<Trail> trails;
    for (std::size_t i = count.get<std::size_t>(); i > 0; --i)
      trails.push_back(random_candidate(space_, rng_)->trail());
    return trails;
  }

  Message all() {
    std::vector<Trail> trails;
    const bool whole = for_each_path(space_, [&](const Path& path) {
      if (trails.size() == max_listed) return false;
      trails.push_back(path.leaf->trail());
      return true;
    });
    if (whole) return listed(trails);
    return {{"type", "answer"}, {"error", fmt::format("the space has more than {} candidates", max_listed)}};
  }

  Trail wish_of(const Message& json) {
    if (!json.is_object()) nonsense("a wish {\"knob\": value, …}", json);
    Trail wish;
    for (const auto& [knob, value] : json.items()) {
      const auto found = integers_.find(knob);
      if (found == integers_.end()) {
        std::vector<std::string> names;
        for (const auto& [name, integer] : integers_) names.push_back(name);
        child_.fail(fmt::format("wished for the knob '{}', which the space does not have{}", cut(printable(knob), 60),
                                did_you_mean(knob, names)));
      }
      if (!value.is_primitive() || value.is_null()) nonsense("a value of the knob " + knob, value);
      if (found->second && value.is_number_float())  // computed by the strategy; the nearest option is taken
        wish.push_back({knob, std::llround(std::clamp(value.get<double>(), -0x1p62, 0x1p62))});
      else
        wish.push_back(
            {knob, value.is_string() ? parse_value(value.get<std::string>()) : records::value_of_json(value.dump())});
    }
    return wish;
  }

  std::size_t id_in(const Message& json) {
    if (!json.is_number_unsigned() || json >= known_.size()) nonsense("the id of a candidate", json);
    return json.get<std::size_t>();
  }

  std::size_t id_of(const Trail& trail) {
    const auto [found, fresh] = ids_.try_emplace(deplo::print(trail), known_.size());
    if (fresh) {
      known_.push_back({.trail = trail});
      for (const Choice& choice : trail)  // knobs that the description of a large tree lacks
        integers_.try_emplace(choice.knob, std::holds_alternative<std::int64_t>(choice.value));
    }
    return found->second;
  }

  static Message with_outcome(Message message, const Outcome& outcome, double effort) {
    message["status"] = status_name(outcome.status);
    message["us"] = time_of(outcome);
    message["seconds"] = std::isfinite(outcome.seconds) ? outcome.seconds : 0.0;
    message["effort"] = effort;
    if (!outcome.message.empty()) message["message"] = outcome.message;
    return message;
  }

  void send(const Message& message) { child_.send(message.dump(-1, ' ', false, Message::error_handler_t::replace)); }

  /// Receives the program's next message. The deadline counts from `start`. Throws Interrupted if the search's time
  /// ends before the deadline.
  Message receive(Clock::time_point start) {
    const auto late = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(deadline_));
    const auto give_up = std::min(late, end_);
    std::optional<std::string> line;
    if (Clock::now() < give_up) line = child_.line(give_up);  // an endless series of queries has no late line
    if (!line && end_ < late) throw Interrupted();
    if (!line) child_.fail(fmt::format("did not answer within {:g} s", deadline_));
    return parse(*line);
  }

  Message parse(const std::string& line) {
    Message message;
    JsonBuilder<Message> builder(message, limits, "a message");
    try {
      Message::sax_parse(line, &builder);
    } catch (const Message::exception&) {
      message = nullptr;
    } catch (const Error& beyond_limits) {
      child_.fail(fmt::format("wrote {}", beyond_limits.what()));
    }
    if (!message.is_object())
      child_.fail(fmt::format("wrote '{}' instead of a JSON object on one line{}", cut(printable(line), shown_columns),
                              number_that_is_not_json(line)));
    return message;
  }

  const Message& member(const Message& message, const char* name) {
    const auto found = message.find(name);
    if (found == message.end()) nonsense(fmt::format("a member \"{}\"", name), message);
    return *found;
  }

  std::string text(const Message& message, const char* name) {
    const Message& found = member(message, name);
    if (!found.is_string()) nonsense(fmt::format("a word in \"{}\"", name), found);
    return found.get<std::string>();
  }

  [[noreturn]] void nonsense(const std::string& expected, const Message& found) {
    const std::string shown = found.dump(-1, ' ', false, Message::error_handler_t::replace);
    child_.fail(
        fmt::format("broke the protocol: expected {}, found {}", expected, cut(printable(shown), shown_columns)));
  }

  const Space& space_;
  strategies::Tree tree_;  // the candidates that were asked or told
  Rng rng_;
  const double deadline_;
  Clock::time_point end_ = Clock::time_point::max();  // of the search
  const std::vector<KnobInfo> knobs_;
  std::map<std::string, bool, std::less<>> integers_;  // by knob: whether its values are integers
  std::vector<Known> known_;                           // by id
  std::map<std::string, std::size_t> ids_;             // ids by printed trail
  bool learns_ = false;
  bool finished_ = false;  // the program is done, or was interrupted
  bool partial_ = false;   // some candidate was asked with less effort, and may be asked again
  Child child_;
};

}  // namespace

const SearcherKind& kind(std::string_view name) {
  static constexpr SearcherKind program{"exec:CMD", "your own program, in any language (docs/protocol.md)", parameters,
                                        nullptr, true};
  if (name.size() == prefix.size()) throw Error("expected a command after exec:, found none");
  return program;
}

std::unique_ptr<Searcher> make(std::string_view name, const Space& space, const SearchOptions& options) {
  const SearcherKind& program = kind(name);
  SearchOptions own = options;
  std::erase_if(own.parameters, [](const auto& parameter) { return parameter.first != parameters[0].name; });
  const Settings settings(program.name, program.parameters, own);
  return std::make_unique<Exec>(space, std::string(name.substr(prefix.size())), settings, options);
}

}  // namespace deplo::search::exec
