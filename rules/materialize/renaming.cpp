#include "rules/materialize/renaming.h"

#include "core/text/match.h"
#include "ir/walk.h"

namespace deplo::rules::materializer {

void rename(ir::Body& body, const NewNames& names) {
  ir::Substitution values;
  for (const auto& [before, after] : names) values.emplace_back(before, ir::var(after));
  ir::for_each(body, [&](ir::Stmt& stmt) {
    ir::for_each_part(stmt, cases{[&](ir::Expr& e) { e = ir::substitute(e, values); },
                                  [&](ir::Use use, std::string& name) {
                                    const auto found = names.find(name);
                                    const bool value = use == ir::Use::value || use == ir::Use::defines;
                                    if (value && found != names.end()) name = found->second;
                                  },
                                  [](const ir::Axis&) {}, [](const ir::Body&) {}});
  });
}

NewNames names_of_copy(const ir::Body& body, KernelBuilder& kernel) {
  NewNames names;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    ir::for_each_name(stmt, [&](ir::Use use, const std::string& name) {
      const bool starts = stmt.as<ir::Accum>() == nullptr && stmt.as<ir::Scale>() == nullptr &&
                          stmt.as<ir::Mma>() == nullptr && stmt.as<ir::DotPairs>() == nullptr;
      if (use == ir::Use::defines && starts) names.emplace(name, kernel.fresh(name));
    });
  });
  return names;
}

}  // namespace deplo::rules::materializer
