// Verifies a program in one walk that stops at the first violation.
#include <algorithm>

#include "core/text/match.h"
#include "ir/text/words.h"
#include "ir/verify/checks.h"
#include "ir/verify/overlap.h"
#include "ir/verify/violation.h"

namespace deplo::ir {
namespace verifier {
namespace {

void check_buffer(Context& c, const Buffer& b) {
  Name& buffer = c.names.define(b.name, Name::Kind::buffer, "a buffer");
  if (!is_kernel_type(b.dtype)) fail("buffer `{}` has the type {}, which no statement takes", b.name, name(b.dtype));
  buffer.type = {b.dtype, 1};
  buffer.writable = b.role == Role::output;
  if (b.strides.size() != b.shape.size())
    fail("buffer `{}` has {} dimensions and {} strides", b.name, b.shape.size(), b.strides.size());
  std::int64_t last = 0, count = 1, steps = 0;
  for (std::size_t i = 0; i < b.shape.size(); ++i) {
    if (b.shape[i] < 1) fail("buffer `{}` has an extent of {}", b.name, b.shape[i]);
    if (b.strides[i] < 0 || (buffer.writable && b.strides[i] == 0 && b.shape[i] > 1))
      fail("buffer `{}` has a stride of {}", b.name, b.strides[i]);
    if (__builtin_mul_overflow(count, b.shape[i], &count) ||
        __builtin_mul_overflow(b.shape[i] - 1, b.strides[i], &steps) || __builtin_add_overflow(last, steps, &last) ||
        std::max(count, last) > max_index)
      fail("buffer `{}` has more than 2^60 elements", b.name);
  }
  buffer.extents = b.shape;
  if (buffer.writable)
    if (const std::string fault = overlap(b.shape, b.strides); !fault.empty())
      fail("output `{}` has {}", b.name, fault);
  if (b.fill) {
    if (buffer.writable) fail("output `{}` has values to be drawn: only inputs have", b.name);
    if (const std::string what = fault(*b.fill, b.dtype, span(b)); !what.empty()) fail("buffer `{}`: {}", b.name, what);
  }
  buffer.unit_stride = b.strides.empty() || b.strides.back() == 1;
}

// The top level has one Tile, preceded only by scalars that every thread computes and by launch parameters.
void check_top_level(Context& c) {
  std::size_t tiles = 0;
  for (const Stmt& s : c.program.body) {
    c.statement = &s;
    if (s.as<Tile>() != nullptr)
      ++tiles;
    else if (tiles > 0)
      fail("nothing follows the Tile");
    else if (s.as<Load>() == nullptr && s.as<Index>() == nullptr && s.as<Assign>() == nullptr &&
             s.as<TmaDescriptor>() == nullptr)
      fail("only loads, indices and assignments may precede the Tile");
  }
  c.statement = nullptr;
  if (tiles != 1) fail("expected one Tile, found {}", tiles);
}

// A loop between an accumulator's scope and an Accum carries the accumulator from one iteration to the next, so it must
// not be free.
void check_accumulations(Context& c) {
  c.statement = nullptr;
  for (const auto& [acc, scope] : c.accumulations)
    for (const Scope* s = scope; s != acc->scope; s = s->parent)
      if (s->loop != nullptr && s->loop->axis.bind == Bind::free)
        fail("`{}` accumulates over the free axis `{}`", acc->text, s->loop->axis.name);
}

void check_program(Context& c) {
  const Program& program = c.program;
  if (!is_name(program.name)) fail("`{}` is not a name", program.name);
  for (const Buffer& b : program.buffers) check_buffer(c, b);
  if (program.level != Level::loop) check_top_level(c);
  check_body(c, program.body);
  if (program.level != Level::loop) return;
  check_accumulations(c);
  for (const std::size_t i : zeroed_buffers(program))
    if (const Buffer& b = program.buffers[i]; span(b) != element_count(b))
      fail("`{}` starts at 0, so the gaps between its rows would be cleared, too", b.name);
}

}  // namespace

void check_body(Context& c, const Body& body, const Loop* loop) {
  if (body.empty() && c.names.scope() != nullptr) fail("the body is empty");
  c.names.enter(loop);
  for (const Stmt& s : body) {
    c.statement = &s;
    if (s.as<Jump>() != nullptr && &s != &body.back()) fail("nothing follows it in its body");
    match(s.node, [&]<class S>(const S& statement) {
      if (!permits<S>(c.program.level)) fail("not a statement of {} IR", name(c.program.level));
      check(c, statement);
    });
  }
  c.names.leave();
}

}  // namespace verifier

std::string verify(const Program& program) {
  verifier::Context context(program);
  try {
    verifier::check_program(context);
    return "";
  } catch (const verifier::Violation& violation) {
    if (context.statement == nullptr) return fmt::format("{}: {}", program.name, violation.message);
    const std::string text = print(Body{*context.statement});
    return fmt::format("{}: `{}`: {}", program.name, text.substr(0, text.find('\n')), violation.message);
  }
}

}  // namespace deplo::ir
