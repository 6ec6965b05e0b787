#include "rules/blocks/thread_code.h"

#include "core/error.h"

namespace deplo::rules::blocks {
namespace {

Expr place(const Stored& s, const At& at, bool alone) {
  if (s.space != ir::Space::thread) return at.i;
  CHECK(alone || at.slot);  // ensured by Plan::crosses
  return at.slot ? *at.slot : at.i;
}

}  // namespace

ThreadCode::ThreadCode(std::int64_t count, bool on_cpu) : threads(count), on_cpu_(on_cpu) {
  if (threads == 1) return;
  thread_ = ir::var("tx");
  add_axis("tx", threads);
}

bool ThreadCode::unrolls(std::int64_t trips) const {
  constexpr std::int64_t max_copies = 64;
  return !on_cpu_ && trips <= max_copies;
}

void ThreadCode::each(std::int64_t count, const std::function<void(const At&)>& body) {
  if (count < threads) return guarded(ir::less(thread_, count), [&] { body({thread_, Expr(0)}); });
  loop(slots(count), threads > 1 && unrolls(slots(count)), [&](const Expr& slot) {
    body({simplified(slot * threads + thread_), slot});
  });
}

void ThreadCode::each(const ir::tile_program::Extents& shape, const std::function<void(const At&)>& body) {
  if (threads > 1) return each(ir::element_count(shape), body);
  const std::function<void(std::size_t, const Expr&)> nest = [&](std::size_t d, const Expr& i) {
    if (d == shape.size()) return body({simplified(i), simplified(i)});
    loop(shape[d], false, [&](const Expr& along) { nest(d + 1, i * shape[d] + along); });
  };
  nest(0, 0);
}

void ThreadCode::by_first_thread(const std::function<void()>& body) {
  if (threads == 1) return body();
  guarded(ir::equal(thread_, 0), body);
}

Name ThreadCode::read(const Stored& s, const At& at) {
  Name name = fresh("e");
  add(ir::Get{name, s.dtype, s.array, simplified(place(s, at, threads == 1))});
  return name;
}

void ThreadCode::write(const Stored& s, const At& at, const Name& value) {
  add(ir::Put{s.array, simplified(place(s, at, threads == 1)), value});
}

}  // namespace deplo::rules::blocks
