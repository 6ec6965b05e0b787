// LSTM, GRU and RNN, unrolled over the steps: one product of the input for all steps, and a product of the hidden state
// for each step. The networks are in evaluation mode, in which dropout is the identity.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

enum class Cell : std::uint8_t { lstm, gru, tanh, relu };

constexpr std::int64_t gates_of(Cell cell) { return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1; }

// Each step becomes about twenty operations, and a graph has at most 200,000 operations.
constexpr std::int64_t max_steps = 8192;

/// The weights of a layer in one direction.
struct Weights {
  Id input, hidden;
  std::optional<Id> input_bias, hidden_bias;
  std::optional<Id> projection = {};  // of an LSTM with proj_size: makes the hidden state smaller
};

struct State {
  Id hidden, cell;  // only an LSTM has a cell state
};

class Recurrence {
 public:
  Recurrence(const Given& g, Cell cell) : g_(g), cell_(cell) {}

  /// Runs one direction of a layer: x (steps, batch, features) → (steps, batch, hidden). Also returns the last state.
  std::pair<Id, State> run(Id x, State state, const Weights& w, bool backwards) const {
    const Id inputs = linear(x, w.input, w.input_bias);
    const std::int64_t steps = g_.shape(x)[0];
    std::vector<Id> outputs(static_cast<std::size_t>(steps));
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int64_t t = backwards ? steps - 1 - i : i;
      const Id input = g_.call("select", {inputs}, {{"dim", std::int64_t{0}}, {"index", t}});
      state = step(input, state, w);
      outputs[static_cast<std::size_t>(t)] = state.hidden;
    }
    return {g_.call("stack", outputs, {{"dim", std::int64_t{0}}}), state};
  }

  State step(Id input, const State& state, const Weights& w) const {
    const Id hidden = linear(state.hidden, w.hidden, w.hidden_bias);
    if (cell_ == Cell::gru) return {gru(input, hidden, state.hidden), -1};
    const Id sum = g_.apply("add", input, hidden);
    if (cell_ != Cell::lstm) return {g_.apply(cell_ == Cell::tanh ? "tanh" : "relu", sum), -1};
    State next = lstm(sum, state);
    if (w.projection) next.hidden = linear(next.hidden, *w.projection, {});
    return next;
  }

  Id linear(Id x, Id weight, const std::optional<Id>& bias) const {
    return bias ? g_.call("linear", {x, weight, *bias}) : g_.call("linear", {x, weight});
  }

 private:
  Id gate(Id gates, std::int64_t n) const {
    const std::size_t last = g_.rank(gates) - 1;
    const std::int64_t size = g_.shape(gates)[last] / gates_of(cell_);
    return g_.slice(gates, last, n * size, (n + 1) * size);
  }

  // The gates are the input, forget, cell and output gate.
  State lstm(Id gates, const State& state) const {
    const Id in = g_.apply("sigmoid", gate(gates, 0)), forget = g_.apply("sigmoid", gate(gates, 1));
    const Id fresh = g_.apply("tanh", gate(gates, 2)), out = g_.apply("sigmoid", gate(gates, 3));
    const Id cell = g_.apply("add", g_.apply("mul", forget, state.cell), g_.apply("mul", in, fresh));
    return {g_.apply("mul", out, g_.apply("tanh", cell)), cell};
  }

  // The gates are the reset, update and new gate: h' = (1 - z) n + z h
  Id gru(Id input, Id hidden, Id state) const {
    const Id reset = g_.apply("sigmoid", g_.apply("add", gate(input, 0), gate(hidden, 0)));
    const Id update = g_.apply("sigmoid", g_.apply("add", gate(input, 1), gate(hidden, 1)));
    const Id fresh = g_.apply("tanh", g_.apply("add", gate(input, 2), g_.apply("mul", reset, gate(hidden, 2))));
    return g_.apply("add", g_.apply("mul", g_.apply("sub", 1.0, update), fresh), g_.apply("mul", update, state));
  }

  const Given& g_;
  Cell cell_;
};

/// A network of several layers, with its input and its initial states.
struct Network {
  Id x;                     // (steps, batch, features)
  std::vector<Id> states;   // (layers * directions, batch, hidden): the hidden state and, for an LSTM, the cell state
  std::vector<Id> weights;  // ordered by layer, then by direction
  bool biases = true, bidirectional = false, projected = false;
  std::int64_t layers = 1;
  std::size_t weights_per_layer() const { return (biases ? 4 : 2) + (projected ? 1 : 0); }
};

Weights weights_of(const Network& n, std::size_t number) {
  const std::size_t at = number * n.weights_per_layer();
  Weights w = {n.weights[at], n.weights[at + 1], std::nullopt, std::nullopt};
  if (n.biases) w.input_bias = n.weights[at + 2], w.hidden_bias = n.weights[at + 3];
  if (n.projected) w.projection = n.weights[at + n.weights_per_layer() - 1];
  return w;
}

// A step's state can be a kernel argument if it begins at a multiple of this number of bytes (rules/fusion/stacks.h).
constexpr std::int64_t argument_bytes = 128;
constexpr std::int64_t few_steps = 8;  // kernels of at most this many steps are built one by one

/// Returns the number of zero rows to add to the batch so that the states of all steps begin where kernel arguments may
/// begin. Returns 0 for at most `few_steps` steps.
std::int64_t missing_rows(const Given& g, const Network& n) {
  if (g.shape(n.x)[0] <= few_steps) return 0;
  const std::int64_t row = g.shape(n.states[0])[2] * bytes(g.dtype(n.x)), batch = g.shape(n.x)[1];
  const std::int64_t rows = argument_bytes / std::gcd(argument_bytes, std::max<std::int64_t>(row, 1));
  return (rows - batch % rows) % rows;
}

Id with_rows(const Given& g, Id x, std::int64_t more) { return g.call("pad", {x}, {{"pad", Shape{0, 0, 0, more}}}); }

std::vector<Id> run_layers(const Given& g, Cell cell, const Network& n);

void check(const Given& g, const Network& n) {
  const std::int64_t count = n.layers * (n.bidirectional ? 2 : 1),
                     weights = count * static_cast<std::int64_t>(n.weights_per_layer());
  if (std::ssize(n.weights) != weights)
    throw Error(fmt::format("{}: expected {} weights, found {}", g.name(), weights, n.weights.size()));
  const Shape x = g.shape(n.x);
  if (x[0] > max_steps || x[0] < 1) g.refuse(fmt::format("1 to {} steps", max_steps), n.x);
  const Shape weight = g.shape(n.weights[1]);
  if (weight.size() != 2) g.refuse("a matrix as the weight of the hidden state", n.weights[1]);
  for (std::size_t i = 0; i < n.states.size(); ++i) {
    const bool smaller = i == 0 || !n.projected;  // the cell state has no projection
    const Shape state = {count, x[1], smaller ? weight[1] : weight[0] / gates_of(Cell::lstm)};
    if (g.shape(n.states[i]) != state)
      g.refuse(fmt::format("an initial state of shape {}", ir::print(state)), n.states[i]);
  }
}

/// Returns the output, and the last states of all layers.
std::vector<Id> run(const Given& g, Cell cell, Network n) {
  check(g, n);
  const std::int64_t batch = g.shape(n.x)[1], more = missing_rows(g, n);
  if (more == 0) return run_layers(g, cell, n);
  n.x = with_rows(g, n.x, more);
  for (Id& state : n.states) state = with_rows(g, state, more);
  std::vector<Id> results = run_layers(g, cell, n);
  for (Id& id : results) id = g.slice(id, 1, 0, batch);
  return results;
}

std::vector<Id> run_layers(const Given& g, Cell cell, const Network& n) {
  const std::size_t directions = n.bidirectional ? 2 : 1, count = static_cast<std::size_t>(n.layers) * directions;
  const Recurrence recurrence(g, cell);
  std::vector<Id> hidden, cells;
  Id x = n.x;
  for (std::size_t layer = 0; layer < count; layer += directions) {
    std::vector<Id> outputs;
    for (std::size_t d = 0; d < directions; ++d) {
      const auto state_of = [&](Id all) {
        return g.call("select", {all}, {{"dim", std::int64_t{0}}, {"index", static_cast<std::int64_t>(layer + d)}});
      };
      const State begin = {state_of(n.states[0]), cell == Cell::lstm ? state_of(n.states[1]) : -1};
      const auto [output, end] = recurrence.run(x, begin, weights_of(n, layer + d), d == 1);
      outputs.push_back(output);
      hidden.push_back(end.hidden);
      cells.push_back(end.cell);
    }
    x = directions == 1 ? outputs[0] : g.call("cat", outputs, {{"dim", std::int64_t{-1}}});
  }
  const auto stacked = [&](const std::vector<Id>& states) {
    return g.call("stack", states, {{"dim", std::int64_t{0}}});
  };
  std::vector<Id> result = {x, stacked(hidden)};
  if (cell == Cell::lstm) result.push_back(stacked(cells));
  return result;
}

Id swapped(const Given& g, Id x) {
  return g.call("transpose", {x}, {{"dim0", std::int64_t{0}}, {"dim1", std::int64_t{1}}});
}

// aten.lstm.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
template <Cell cell>
std::vector<Id> read_network(pt2::Call& call) {
  const Given g(call);
  call.ignore({"dropout"});
  if (call.flag("train", false) && call.number("dropout", 0) != 0) call.fail("train", "False (a model in eval mode)");
  const bool batch_first = call.flag("batch_first", false);
  Network n;
  n.x = call.tensor("input");
  n.states = cell == Cell::lstm ? call.tensors("hx") : std::vector<Id>{call.tensor("hx")};
  n.weights = call.tensors("params");
  n.biases = call.flag("has_biases", true);
  n.layers = call.integer("num_layers", 1);
  n.bidirectional = call.flag("bidirectional", false);
  const std::int64_t plain = n.layers * (n.bidirectional ? 2 : 1) * (n.biases ? 4 : 2);
  n.projected = cell == Cell::lstm && std::ssize(n.weights) > plain;
  if (call.rank(n.x) != 3) call.fail("input", "a batch of sequences");
  if (batch_first) n.x = swapped(g, n.x);
  std::vector<Id> results = run(g, cell, n);
  if (batch_first) results[0] = swapped(g, results[0]);
  return results;
}

// aten.lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh) and the like
template <Cell cell>
std::vector<Id> read_cell(pt2::Call& call) {
  const Given g(call);
  const std::vector<Id> states = cell == Cell::lstm ? call.tensors("hx") : std::vector<Id>{call.tensor("hx")};
  const Weights w = {call.tensor("w_ih"), call.tensor("w_hh"), g.optional_tensor("b_ih"), g.optional_tensor("b_hh")};
  const Recurrence recurrence(g, cell);
  const Id input = recurrence.linear(call.tensor("input"), w.input, w.input_bias);
  const State next = recurrence.step(input, {states[0], cell == Cell::lstm ? states[1] : -1}, w);
  if (cell == Cell::lstm) return {next.hidden, next.cell};
  return {next.hidden};
}

// In expressions, nn.LSTM, nn.GRU and nn.RNN call these functions. `weights` are the module's parameters, in the order
// of PyTorch's names.

template <Cell cell>
python::Value call_network(const python::Call& call) {
  const Given g(call);
  Network n;
  n.x = g.tensor("input");
  n.weights = g.tensors("weights");
  n.biases = g.flag("bias", true);
  n.layers = g.integer("num_layers", 1);
  n.bidirectional = g.flag("bidirectional", false);
  const std::int64_t size = g.integer("hidden_size", 1), directions = n.bidirectional ? 2 : 1;
  const bool batched = g.rank(n.x) == 3, batch_first = batched && g.flag("batch_first", false);
  if (!batched && g.rank(n.x) != 2) g.refuse("a sequence, or a batch of them", n.x);
  if (!batched) n.x = g.unsqueeze(n.x, 1);
  if (batch_first) n.x = swapped(g, n.x);
  if (!call.given("hx")) {
    const Id zeros = g.full(Shape{n.layers * directions, g.shape(n.x)[1], size}, 0, g.dtype(n.x));
    n.states = {zeros, zeros};
  } else {
    n.states = cell == Cell::lstm ? g.tensors("hx") : std::vector<Id>{g.tensor("hx")};
    if (cell == Cell::lstm && n.states.size() != 2) call.fail("hx", "a pair (h_0, c_0)");
    if (!batched)
      for (Id& state : n.states) state = g.unsqueeze(state, 1);
  }
  std::vector<Id> results = run(g, cell, n);
  if (!batched)
    for (Id& id : results) id = g.call("squeeze", {id}, {{"dims", Shape{1}}});
  if (batch_first) results[0] = swapped(g, results[0]);
  if (cell != Cell::lstm) return results_of(results);
  return python::make_list({{python::Tensor{results[0]}}, results_of({results[1], results[2]})});
}

python::Value call_rnn(const python::Call& call) {
  const std::string_view activation = call.text("nonlinearity");
  if (activation != "tanh" && activation != "relu") call.fail("nonlinearity", "'tanh' or 'relu'");
  return activation == "tanh" ? call_network<Cell::tanh>(call) : call_network<Cell::relu>(call);
}

constexpr std::string_view network =
    "input, hx=None, *, weights, hidden_size, num_layers=1, bias=True, batch_first=False, bidirectional=False";
constexpr std::string_view plain_network =
    "input, hx=None, *, weights, hidden_size, num_layers=1, nonlinearity='tanh', bias=True, batch_first=False, "
    "bidirectional=False";

}  // namespace

// clang-format off
Composites recurrences() {
  return {
      {{"gru", of_modules_only, network, call_network<Cell::gru>},
       {"lstm", of_modules_only, network, call_network<Cell::lstm>},
       {"rnn", of_modules_only, plain_network, call_rnn}},
      {{"aten.gru", read_network<Cell::gru>}, {"aten.gru_cell", read_cell<Cell::gru>},
       {"aten.lstm", read_network<Cell::lstm>}, {"aten.lstm_cell", read_cell<Cell::lstm>},
       {"aten.rnn_relu", read_network<Cell::relu>}, {"aten.rnn_relu_cell", read_cell<Cell::relu>},
       {"aten.rnn_tanh", read_network<Cell::tanh>}, {"aten.rnn_tanh_cell", read_cell<Cell::tanh>}}};
}
// clang-format on

}  // namespace deplo::ir::torch
