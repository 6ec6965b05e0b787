// A partial write of a sector costs more than its bytes: on an H200, a bf16 matmul of 2048 x 2048 x 2048 takes 30.8 µs
// with stores of 4 bytes and 24.6 with stores of whole sectors (docs/performance.md, "On an H200").
//   c[a5, a6*2]:x2 = acc0      c[a5, a6*2 + 8]:x2 = acc1      →   QuadTranspose(v0:bf16x8 <- acc0, acc1, acc2, acc3)
//   c[a5, a6*2 + 16]:x2 = acc2   c[a5, a6*2 + 24]:x2 = acc3       c[a5, a6*8]:x8 = v0
#include "rules/materialize/whole_sectors.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/cost/resources.h"

namespace deplo::rules::materializer {
namespace {

constexpr std::size_t count = ir::QuadTranspose::threads;
constexpr std::int64_t own = 2;  // adjacent elements of a row that a thread has
// Adjacent elements that the four threads have.
constexpr std::int64_t together = own * std::int64_t{ir::QuadTranspose::threads};

class SectorStores {
 public:
  SectorStores(const ir::Body& kernel, KernelBuilder& builder) : builder_(builder) {
    ir::for_each(kernel, [&](const ir::Stmt& stmt) {
      const auto note = [&](const auto& s) {
        if constexpr (requires { s.type.lanes; }) {
          if (s.type.lanes == own) pairs_[ir::defined(stmt)] = s.type.dtype;
        }
      };
      std::visit(note, stmt.node);
    });
  }

  void rewrite(ir::Body& body) {
    ir::Body result;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (!quad_.empty() && transpose(body, i, result)) {
        i += count - 1;
        continue;
      }
      inside(body[i]);
      result.push_back(std::move(body[i]));
    }
    body = std::move(result);
  }

 private:
  // Rewrites the statements inside, if all threads of a block reach them together.
  void inside(ir::Stmt& stmt) {
    const std::size_t outside = scope_.size();
    if (auto* tile = stmt.as<ir::Tile>()) {
      for (const ir::Axis& axis : tile->axes) {
        scope_.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
        if (axis.bind != ir::Bind::thread) continue;
        threads_.insert(axis.name);
        if (axis.extent > 1)
          quad_ = axis.extent == std::int64_t{count} ? axis.name : "";  // the last axis varies fastest
      }
      rewrite(tile->body);
    } else if (auto* loop = stmt.as<ir::Loop>()) {
      scope_.emplace_back(loop->axis.name, ir::range_of(*loop));
      if (is_uniform(loop->start) && (!loop->end || is_uniform(*loop->end))) rewrite(loop->body);
    } else if (auto* branch = stmt.as<ir::If>()) {
      if (is_uniform(branch->condition)) rewrite(branch->then);
    }
    scope_.resize(outside);
  }

  bool is_uniform(const ir::Expr& e) const {
    bool uniform = true;
    ir::for_each_variable(e, [&](const std::string& name) {
      const bool is_axis = std::ranges::any_of(scope_, [&](const auto& axis) { return axis.first == name; });
      uniform &= is_axis && !threads_.contains(name);
    });
    return uniform;
  }

  using Index = std::vector<ir::Expr>;

  // Returns the step from one index to another if it is constant; otherwise nullopt.
  std::optional<std::vector<std::int64_t>> step(const Index& from, const Index& to) const {
    std::vector<std::int64_t> steps;
    for (std::size_t d = 0; d < from.size(); ++d) {
      const ir::Expr difference = ir::simplify(to[d] - from[d], scope_);
      if (difference.kind() != ir::Expr::Kind::constant) return std::nullopt;
      steps.push_back(difference.value());
    }
    return steps;
  }

  static bool is_along_row(const std::vector<std::int64_t>& step, std::int64_t elements) {
    std::vector<std::int64_t> along(step.size(), 0);
    along.back() = elements;
    return step == along;
  }

  // Returns the index at which each of the four threads stores what the four threads have at one of the writes' places;
  // nullopt if there is no such index.
  std::optional<Index> joined_place(const std::array<const ir::Write*, count>& writes) const {
    const Index& first = writes[0]->index;
    Index next_thread;
    for (const ir::Expr& e : first) next_thread.push_back(ir::substitute(e, {{quad_, ir::var(quad_) + 1}}));
    const auto thread = step(first, next_thread), second = step(first, writes[1]->index),
               third = step(first, writes[2]->index), fourth = step(writes[2]->index, writes[3]->index);
    if (!thread || !second || !third || !fourth) return std::nullopt;
    if (!is_along_row(*thread, own) || !is_along_row(*second, together) || *fourth != *second) return std::nullopt;
    if (!is_along_row(*third, 2 * together) && third->back() != 0) return std::nullopt;
    Index place;
    for (std::size_t d = 0; d < first.size(); ++d) {
      const ir::Expr start = ir::substitute(first[d], {{quad_, ir::Expr(0)}});
      const bool even = (*third)[d] == 2 * (*second)[d];  // also if both are 0
      const ir::Expr moved =
          even ? ir::var(quad_) * (*second)[d] : ir::var(quad_) / 2 * (*third)[d] + ir::var(quad_) % 2 * (*second)[d];
      place.push_back(ir::simplify(start + moved, scope_));
    }
    return place;
  }

  bool transpose(const ir::Body& body, std::size_t at, ir::Body& to) {
    std::array<const ir::Write*, count> writes{};
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count; ++i) {
      const auto* write = at + i < body.size() ? body[at + i].as<ir::Write>() : nullptr;
      if (write == nullptr || write->lanes != own || write->mode != ir::WriteMode::assign) return false;
      const auto* value = std::get_if<std::string>(&write->value);
      if (value == nullptr || write->buffer != body[at].as<ir::Write>()->buffer) return false;
      writes[i] = write;
      values.push_back(*value);
    }
    const ir::Buffer* buffer = builder_.tile_program.find(writes[0]->buffer);
    if (buffer == nullptr || !ir::is_float16(buffer->dtype) || buffer->strides.back() != 1) return false;
    for (const std::string& value : values) {
      const auto pair = pairs_.find(value);
      if (pair == pairs_.end() || (pair->second != ir::DType::f32 && pair->second != buffer->dtype)) return false;
    }
    std::optional<Index> place = joined_place(writes);
    if (!place || !aligned(ir::flat_offset(*place, buffer->strides, scope_), together, builder_.target)) return false;
    const std::string joined = builder_.fresh("v");
    to.emplace_back(ir::QuadTranspose{joined, {buffer->dtype, static_cast<int>(together)}, std::move(values)});
    to.emplace_back(
        ir::Write{buffer->name, std::move(*place), joined, ir::WriteMode::assign, static_cast<int>(together)});
    return true;
  }

  KernelBuilder& builder_;
  std::map<std::string, ir::DType, std::less<>> pairs_;  // the types of values with two lanes
  ir::Ranges scope_;                                     // ranges of the axes
  std::set<std::string, std::less<>> threads_;           // thread axes
  std::string quad_;                                     // the axis of four neighbouring threads; "" if there is none
};

}  // namespace

void store_whole_sectors(ir::Body& kernel, KernelBuilder& builder) {
  if (!builder.target.shuffle || builder.threads % builder.target.warp != 0) return;
  SectorStores(kernel, builder).rewrite(kernel);
}

}  // namespace deplo::rules::materializer
