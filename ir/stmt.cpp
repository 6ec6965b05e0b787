#include "ir/stmt.h"

namespace deplo::ir {

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
