// The affine normal form: collects terms, and writes them as one left-leaning chain in order of appearance.
#include "ir/simplify/simplify_impl.h"

namespace deplo::ir {

void Affine::add_constant(std::int64_t value, std::int64_t factor) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(value, factor, &product) || __builtin_add_overflow(constant, product, &constant))
    overflow = true;
}

void Affine::add_term(const Expr& atom, std::int64_t coefficient) {
  if (coefficient == 0) return;
  for (auto it = terms.begin(); it != terms.end(); ++it) {
    if (!(it->atom == atom)) continue;
    if (__builtin_add_overflow(it->coefficient, coefficient, &it->coefficient)) overflow = true;
    if (it->coefficient == 0) terms.erase(it);
    return;
  }
  if (terms.empty()) terms.reserve(6);  // more terms are rare, and memory of the arena is not reused
  terms.push_back({atom, coefficient});
}

void Affine::add(const Affine& other, std::int64_t factor) {
  overflow = overflow || other.overflow;
  add_constant(other.constant, factor);
  for (const Term& t : other.terms) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(t.coefficient, factor, &product)) overflow = true;
    add_term(t.atom, product);
  }
}

void Affine::add(const Expr& e, std::int64_t factor) {
  if (e.kind() == Expr::Kind::constant) return add_constant(e.value(), factor);
  if (e.kind() == Expr::Kind::variable) return add_term(e, factor);
  const ExprOp op = e.op();
  if (op == ExprOp::add || op == ExprOp::sub) {
    std::int64_t right = factor;
    if (op == ExprOp::sub && __builtin_sub_overflow(0, factor, &right)) overflow = true;
    add(e.lhs(), factor);
    return add(e.rhs(), right);
  }
  if (op == ExprOp::mul) {
    const bool left = e.lhs().kind() == Expr::Kind::constant;
    if (left || e.rhs().kind() == Expr::Kind::constant) {
      std::int64_t product = 0;
      if (__builtin_mul_overflow(factor, (left ? e.lhs() : e.rhs()).value(), &product)) overflow = true;
      return add(left ? e.rhs() : e.lhs(), product);
    }
  }
  add_term(e, factor);
}

namespace {

// A summand of the chain: factor * atom, or the constant `factor` if `atom` is nullptr.
struct Item {
  const Expr* atom;
  std::int64_t factor;
  bool subtract;
};
using Items = std::pmr::vector<Item>;

Item signed_item(const Expr* atom, std::int64_t factor) {
  const bool subtract = factor < 0 && factor != INT64_MIN;
  return {atom, subtract ? -factor : factor, subtract};
}

// The chain starts with the first positive term: (x * -1) + y -> y - x, -x + 5 -> 5 - x.
Items to_items(const Affine& a) {
  Items items(a.terms.get_allocator());
  items.reserve(a.terms.size() + 1);
  const auto push = [&](const Expr* atom, std::int64_t factor) {
    items.push_back(items.empty() ? Item{atom, factor, false} : signed_item(atom, factor));
  };
  const Term* first = nullptr;
  for (const Term& t : a.terms)
    if (first == nullptr && t.coefficient > 0) first = &t;
  const bool constant_first = first == nullptr && a.constant > 0;
  if (constant_first) push(nullptr, a.constant);
  if (first != nullptr) push(&first->atom, first->coefficient);
  for (const Term& t : a.terms)
    if (&t != first) push(&t.atom, t.coefficient);
  if (!constant_first && (a.constant != 0 || items.empty())) push(nullptr, a.constant);
  return items;
}

bool reads_as(const Expr& e, const Item& item) {
  if (item.atom == nullptr) return e.is_constant(item.factor);
  if (item.factor == 1) return e == *item.atom;
  return e.kind() == Expr::Kind::binary && e.op() == ExprOp::mul && e.rhs().is_constant(item.factor) &&
         e.lhs() == *item.atom;
}

bool reads_as(const Expr& e, const Items& items) {
  const Expr* spine = &e;
  for (std::size_t i = items.size(); i-- > 1; spine = &spine->lhs()) {
    if (spine->kind() != Expr::Kind::binary) return false;
    if (spine->op() != (items[i].subtract ? ExprOp::sub : ExprOp::add) || !reads_as(spine->rhs(), items[i]))
      return false;
  }
  return reads_as(*spine, items.front());
}

Expr item_expr(const Item& item) {
  if (item.atom == nullptr) return item.factor;
  return item.factor == 1 ? *item.atom : *item.atom * item.factor;
}

}  // namespace

Expr to_expr(const Affine& a, const Expr& hint) {
  const Items items = to_items(a);
  if (reads_as(hint, items)) return hint;
  Expr sum = item_expr(items.front());
  for (std::size_t i = 1; i < items.size(); ++i)
    sum = {items[i].subtract ? ExprOp::sub : ExprOp::add, std::move(sum), item_expr(items[i])};
  return sum;
}

}  // namespace deplo::ir
