#include "ir/stmt.h"

namespace deplo::ir {
namespace {

template <class T>
StatementNode moved(void* statement) {
  return StatementNode(std::in_place_type<T>, std::move(*static_cast<T*>(statement)));
}

template <class... S>
StatementNode moved(std::size_t place, void* statement, std::type_identity<std::variant<S...>> /*node*/) {
  constexpr StatementNode (*functions[])(void*) = {&moved<S>...};
  return functions[place](statement);
}

}  // namespace

Stmt::Stmt(std::size_t place, void* statement) : node(moved(place, statement, std::type_identity<Node>())) {}
Stmt::Stmt(const Stmt&) = default;
Stmt::Stmt(Stmt&&) noexcept = default;
Stmt& Stmt::operator=(const Stmt&) = default;
Stmt& Stmt::operator=(Stmt&&) noexcept = default;
Stmt::~Stmt() = default;
bool Stmt::operator==(const Stmt& other) const { return node == other.node; }

bool is_block_statement(const Stmt& stmt) {
  return std::visit([](const auto& s) { return is_listed<std::remove_cvref_t<decltype(s)>>(BlockStatements()); },
                    stmt.node);
}

}  // namespace deplo::ir
