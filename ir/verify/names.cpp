#include "ir/verify/names.h"

#include "ir/text/words.h"
#include "ir/verify/violation.h"

namespace deplo::ir::verifier {
namespace {

// Names are short, so eight bytes at a time are multiplied by a random odd constant.
std::uint64_t hash_of(std::string_view name) {
  std::uint64_t h = name.size();
  while (!name.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = name.size() < 8 ? name.size() : 8;
    for (std::size_t i = 0; i < n; ++i)
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(name[i])) << (8 * i);
    h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
    h ^= h >> 32;
    name.remove_prefix(n);
  }
  return h;
}

}  // namespace

void Names::enter(const Loop* loop) { scope_ = &scopes_.emplace_back(Scope{scope_, loop}); }

void Names::leave() {
  scope_->open = false;
  scope_ = scope_->parent;
}

std::size_t Names::slot(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash_of(text) & mask;
  while (slots_[i] != nullptr && slots_[i]->text != text) i = (i + 1) & mask;
  return i;
}

Name& Names::add(std::string_view text, Name::Kind kind) {
  if (2 * names_.size() >= slots_.size()) {
    slots_.assign(4 * slots_.size(), nullptr);
    for (Name& name : names_) slots_[slot(name.text)] = &name;
  }
  Name& name = names_.emplace_back();
  name.text = text;
  name.kind = kind;
  slots_[slot(text)] = &name;
  return name;
}

Name& Names::define(const std::string& text, Name::Kind kind, const char* what) {
  if (!is_name(text)) fail("`{}` cannot name {}", text, what);
  if (find(text) != nullptr) fail("`{}` is defined twice", text);
  Name& name = add(text, kind);
  name.scope = scope_;
  return name;
}

Name& Names::use(const std::string& text) {
  Name* name = find(text);
  if (name == nullptr) fail("`{}` is not defined before this", text);
  if (name->kind != Name::Kind::value && name->kind != Name::Kind::accumulator) fail("`{}` is not a value", text);
  if (name->kind == Name::Kind::accumulator && level_ != Level::kernel)
    while (!name->scope->open) name->scope = name->scope->parent;  // finds the innermost enclosing scope
  else if (!name->scope->open)
    fail("`{}` is out of scope", text);
  return *name;
}

}  // namespace deplo::ir::verifier
