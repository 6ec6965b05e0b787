#include "ir/verify/context.h"

#include "ir/verify/violation.h"

namespace deplo::ir::verifier {
namespace {

void check_vector_axis(const std::string& axis, const Name& buffer, const std::vector<Expr>& index) {
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (!depends_on(index[i], axis)) continue;
    if (i + 1 < index.size()) fail("the VECTOR axis `{}` is in an index other than the last", axis);
    if (coefficient(index[i], axis) != 1) fail("the VECTOR axis `{}` has a coefficient other than 1", axis);
    if (!buffer.unit_stride) fail("the VECTOR axis `{}` walks a dimension whose stride is not 1", axis);
  }
}

// `gathers`: whether the index may name values.
Name& access(Context& c, const std::string& text, const std::vector<Expr>& index, int lanes, bool gathers) {
  Name* buffer = c.names.find(text);
  if (buffer == nullptr) fail("buffer `{}` is not declared before this", text);
  const bool shared = buffer->kind == Name::Kind::shared;
  if (buffer->kind != Name::Kind::buffer && !shared) fail("`{}` is not a buffer", text);
  if (shared && !buffer->scope->open) fail("`{}` is out of scope", text);
  const std::size_t rank = buffer->extents.size();
  if (index.size() != rank) fail("`{}` has {} dimensions, found {} indices", text, rank, index.size());
  if (lanes > 1 && (index.empty() || !buffer->unit_stride)) fail("the last dimension of `{}` has no stride of 1", text);
  c.index.begin_list();
  c.index.set_gathers(gathers);
  for (std::size_t i = 0; i < rank; ++i) c.index.in_range(index[i], buffer->extents[i], i + 1 == rank ? lanes : 1, i);
  c.index.set_gathers(false);
  if (c.vector_axis != nullptr) check_vector_axis(*c.vector_axis, *buffer, index);
  return *buffer;
}

}  // namespace

Name& check_access(Context& c, const std::string& text, const std::vector<Expr>& index, int lanes) {
  return access(c, text, index, lanes, true);
}

Name& check_shared_access(Context& c, const std::string& text, const std::vector<Expr>& index, int lanes) {
  Name& buffer = access(c, text, index, lanes, false);
  if (buffer.kind != Name::Kind::shared) fail("`{}` is not shared memory", text);
  return buffer;
}

Name& check_accumulator(Context& c, const std::string& text, const Type& type, Op op) {
  if (!neutral(op)) fail("{} has no neutral element", name(op));
  const Name* acc = c.names.find(text);
  if (acc == nullptr) {
    if (c.program.level == Level::kernel) fail("`{}` has no Init before this", text);
    Name& fresh = c.names.define(text, Name::Kind::accumulator, "an accumulator");
    fresh.type = type;
    fresh.op = op;
    return fresh;
  }
  if (acc->kind != Name::Kind::accumulator) fail("`{}` is not an accumulator", text);
  if (acc->op != op) fail("`{}` is accumulated by {} before this", text, name(acc->op));
  if (acc->type != type) fail("`{}` has another type before this", text);
  return c.names.use(text);
}

void check_convergent(const Context& c) {
  if (c.divergent != 0) fail("some threads of the block may not reach this");
}

void check_in_tile(const Context& c) {
  const Scope* outer = c.names.scope()->parent;
  if (outer == nullptr || outer->parent != nullptr) fail("it must be directly in the Tile");
}

void check_in_cluster(const Context& c) {
  check_in_tile(c);
  if (c.cluster == 0) fail("the Tile has no CLUSTER axis");
}

void check_block(Context& c, const Expr& block) {
  if (c.cluster == 0) fail("the Tile has no CLUSTER axis");
  const Value value = c.index.evaluate(block);
  if (value.range.low < 0 || value.range.high >= c.cluster)
    fail("block `{}` is in {}..{}, not proven in 0..{}", print(block), value.range.low, value.range.high,
         c.cluster - 1);
}

void check_allowed(const Context& c, const mma::Atom& atom) {
  if (atom.operands == mma::Operands::tf32 && !c.program.allow_tf32)
    fail("{} rounds factors to tf32, which the program does not allow", atom.name);
}

}  // namespace deplo::ir::verifier
