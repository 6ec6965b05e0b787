#include "rules/materialize/proxy_fences.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "ir/walk.h"

namespace deplo::rules::materializer {
namespace {

class ReadFences {
 public:
  explicit ReadFences(const ir::Body& kernel) {
    ir::for_each<ir::TmaLoad>(kernel, [&](const ir::TmaLoad& load) { filled_.insert(load.buffer); });
  }

  // `read`: a read precedes the body. `filled`: a copy that the block's threads start themselves follows the body.
  void add_to(ir::Body& body, bool read, bool filled) const {
    ir::Body out;
    for (std::size_t i = 0; i < body.size(); ++i) {
      const auto after = std::next(body.begin(), static_cast<std::ptrdiff_t>(i) + 1);
      const bool follows = filled || std::any_of(after, body.end(), fills);
      if (ir::Body* inner = ir::inner_body(body[i])) {
        const bool again = body[i].as<ir::Loop>() != nullptr;
        add_to(*inner, read || (again && reads(body[i])), follows || (again && fills(body[i])));
      }
      if (read && (is_arrival(body[i]) || (follows && is_barrier(body[i])))) out.emplace_back(ir::ProxyFence{});
      read |= reads(body[i]);
      out.emplace_back(std::move(body[i]));
    }
    body = std::move(out);
  }

  bool reads(const ir::Stmt& stmt) const {
    bool found = false;
    if (stmt.as<ir::Wgmma>() == nullptr)
      ir::for_each_name(stmt, [&](ir::Use use, const std::string& name) {
        found |= use == ir::Use::reads && filled_.contains(name);
      });
    const ir::Body* inner = ir::inner_body(stmt);
    return found || (inner != nullptr && std::ranges::any_of(*inner, [&](const ir::Stmt& s) { return reads(s); }));
  }

 private:
  static bool fills(const ir::Stmt& stmt) {
    const ir::Body* inner = stmt.as<ir::Produce>() != nullptr ? nullptr : ir::inner_body(stmt);
    return stmt.as<ir::TmaLoad>() != nullptr || (inner != nullptr && std::ranges::any_of(*inner, fills));
  }
  static bool is_barrier(const ir::Stmt& stmt) {
    return stmt.as<ir::Sync>() != nullptr || stmt.as<ir::ClusterSync>() != nullptr;
  }
  // Returns whether one thread arrives for its warp. Producers wait for the arrival before they fill a slot.
  static bool is_arrival(const ir::Stmt& stmt) {
    const auto* branch = stmt.as<ir::If>();
    return branch != nullptr && branch->then.size() == 1 && branch->then.front().as<ir::MbarrierArrive>() != nullptr;
  }

  std::set<std::string, std::less<>> filled_;  // buffers that TMA fills
};

}  // namespace

void fence_reads(ir::Body& kernel) {
  const ReadFences fences(kernel);
  if (std::ranges::any_of(kernel, [&](const ir::Stmt& stmt) { return fences.reads(stmt); }))
    fences.add_to(kernel, false, false);
}

}  // namespace deplo::rules::materializer
