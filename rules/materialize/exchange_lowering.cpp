#include "rules/materialize/exchange_lowering.h"

#include <algorithm>
#include <optional>

#include "ir/softmax.h"

namespace deplo::rules::materializer {
namespace {

const ir::Axis& axis_of(const ir::Tile& tile, const ir::Combine& combine) {
  const auto named = [&](const ir::Axis& axis) { return axis.name == combine.over.front(); };
  return *std::find_if(tile.axes.begin(), tile.axes.end(), named);
}

bool of_blocks(const ir::Axis& axis) { return axis.bind == ir::Bind::cluster; }

}  // namespace

/// The instances of an accumulator with one receiver, and their shared memory: [part, place, copy, thread…, lane],
/// without dimensions of extent 1. A place is the position of a thread along the combined axis. Each block of a cluster
/// has its own memory, so memory that is exchanged between blocks has no places.
struct ExchangeLowering::Part {
  ir::Expr receiver;
  ir::Expr holds;  // condition on the threads that hold the sum after earlier exchanges
  ir::Type type;
  std::vector<std::string> own = {}, total = {};
  std::string buffer = {};
  std::vector<ir::Expr> number = {};   // the number of the part, if there are several
  std::vector<ir::Expr> threads = {};  // variables of the other axes with more than one thread

  std::vector<ir::Expr> index(const std::optional<ir::Expr>& place, std::size_t copy) const {
    std::vector<ir::Expr> result = number;
    if (place) result.push_back(*place);
    if (own.size() > 1) result.emplace_back(static_cast<std::int64_t>(copy));
    result.insert(result.end(), threads.begin(), threads.end());
    if (type.lanes > 1 || result.empty()) result.emplace_back(0);
    return result;
  }
};

std::size_t exchange_run(const ir::Body& body, std::size_t i) {
  const auto* first = body[i].as<ir::Combine>();
  if (first == nullptr || !first->to) return 0;
  std::size_t end = i + 1;
  for (; end < body.size(); ++end) {
    const auto* next = body[end].as<ir::Combine>();
    if (next == nullptr || next->over != first->over || next->to != first->to || next->op != first->op ||
        next->acc == first->acc)
      break;
  }
  return end - i;
}

// Returns the condition on the threads or blocks that hold a sum after earlier exchanges.
ir::Expr ExchangeLowering::holds(const std::string& acc, const Instance& instance) const {
  ir::Expr result = 1;
  const auto before = merged_.find(acc);
  if (before == merged_.end()) return result;
  for (const ir::Combine* combine : before->second)
    result = ir::both(result, ir::equal(ir::var(combine->over.front()), replication_.at(*combine->to, instance)));
  return ir::simplify(result, kernel_.scope);
}

// Groups the copies of an accumulator by the thread or block that receives them. The totals' names replace the copies'.
std::vector<ExchangeLowering::Part> ExchangeLowering::by_receiver(const ir::Combine& combine, const Copies& copies) {
  Copies totals = replication_.unnamed(copies.on, copies.dtype);
  std::vector<Part> result;
  for (const Instance& instance : replication_.instances(copies.on)) {
    const ir::Expr receiver = replication_.at(*combine.to, instance), holds = this->holds(combine.acc, instance);
    const auto same = [&](const Part& part) { return part.receiver == receiver && part.holds == holds; };
    auto part = std::ranges::find_if(result, same);
    if (part == result.end()) {
      result.push_back({receiver, holds, replication_.type(copies.dtype, copies.on)});
      part = std::prev(result.end());
    }
    part->own.push_back(replication_.name(copies, instance));
    part->total.push_back(replication_.name(totals, instance) = kernel_.fresh(combine.acc));
  }
  replication_.set_copies(combine.acc, std::move(totals));
  return result;
}

std::vector<ExchangeLowering::Part> ExchangeLowering::parts(const ir::Combine& combine, const ir::Axis& axis) {
  const Copies copies = replication_.copies(combine.acc);
  std::vector<Part> result = by_receiver(combine, copies);
  std::string buffer = combine.acc + "_smem";
  while (!kernel_.reserve(buffer)) buffer += "_";
  std::vector<std::int64_t> shape;
  const auto add = [&](std::int64_t extent) {
    if (extent > 1) shape.push_back(extent);
  };
  add(std::ssize(result));
  if (!of_blocks(axis)) add(axis.extent);
  add(std::ssize(result.front().own));
  std::vector<ir::Expr> threads;
  std::vector<const ir::Combine*>& before = merged_[combine.acc];
  for (const ir::Axis& other : kernel_.tile.axes) {
    const auto over = [&](const ir::Combine* c) { return c->over.front() == other.name; };
    const bool holds_none = std::ranges::any_of(before, over);
    if (other.bind != ir::Bind::thread || other.extent == 1 || &other == &axis || holds_none) continue;
    shape.push_back(other.extent);
    threads.push_back(ir::var(other.name));
  }
  add(result.front().type.lanes);
  if (shape.empty()) shape.push_back(1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    CHECK(result[i].own.size() == result.front().own.size());
    result[i].buffer = buffer;
    result[i].threads = threads;
    if (result.size() > 1) result[i].number.emplace_back(static_cast<std::int64_t>(i));
  }
  kernel_.shared.emplace_back(ir::Smem{buffer, copies.dtype, std::move(shape)});
  before.push_back(&combine);
  return result;
}

void ExchangeLowering::exchange(std::span<const ir::Stmt> run, ir::Body& to) {
  const auto& first = *run.front().as<ir::Combine>();
  const ir::Axis& axis = axis_of(kernel_.tile, first);
  if (axis.extent == 1) return;
  std::vector<Part> all;
  for (const ir::Stmt& stmt : run)
    for (Part& part : parts(*stmt.as<ir::Combine>(), axis)) all.push_back(std::move(part));
  const bool blocks = of_blocks(axis);

  if (!kernel_.loops.empty()) to.emplace_back(ir::Sync{});
  for (const Part& part : all) {
    ir::Body writes;
    for (std::size_t copy = 0; copy < part.own.size(); ++copy) {
      std::vector<ir::Expr> index = part.index(blocks ? std::nullopt : std::optional(ir::var(axis.name)), copy);
      writes.emplace_back(
          ir::Write{part.buffer, std::move(index), part.own[copy], ir::WriteMode::assign, part.type.lanes});
    }
    if (part.holds.is_constant(1))
      std::ranges::move(writes, std::back_inserter(to));
    else
      to.emplace_back(ir::If{part.holds, std::move(writes)});
  }
  blocks ? to.emplace_back(ir::ClusterSync{}) : to.emplace_back(ir::Sync{});
  for (const Part& part : all) {
    ir::Loop loop = {{kernel_.fresh_axis(), axis.extent, ir::Bind::reduce}, 0, 1, 0, {}};
    const ir::Expr place = ir::var(loop.axis.name);
    for (std::size_t copy = 0; copy < part.own.size(); ++copy) {
      to.emplace_back(ir::Init{part.total[copy], part.type, first.op});
      const std::string in = kernel_.fresh("in");
      if (blocks)
        loop.body.emplace_back(ir::ClusterLoad{in, part.type, part.buffer, part.index(std::nullopt, copy), place});
      else
        loop.body.emplace_back(ir::Load{in, part.type, part.buffer, part.index(place, copy)});
      loop.body.emplace_back(ir::Accum{part.total[copy], part.type, first.op, {in}});
    }
    const ir::Expr receives = ir::both(part.holds, ir::equal(ir::var(axis.name), part.receiver));
    to.emplace_back(ir::If{ir::simplify(receives, kernel_.scope), ir::single(std::move(loop))});
  }
  if (blocks) to.emplace_back(ir::ClusterSync{});
}

}  // namespace deplo::rules::materializer
