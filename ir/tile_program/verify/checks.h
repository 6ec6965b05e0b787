// Requirements of individual operations, beyond the classes of their operands. A check returns "" or "expected …, found
// …". Private to the table of operations.
#pragma once
#include <string>

#include "ir/tile_program/program.h"
#include "ir/tile_program/verify/verify.h"

namespace deplo::ir::tile_program::checks {

std::string allocate(const Operation&, const Context&);
std::string assume(const Operation&, const Context&);
std::string atomic_cas(const Operation&, const Context&);
std::string atomic_rmw(const Operation&, const Context&);
std::string atomic_red_view(const Operation&, const Context&);
std::string bitcast(const Operation&, const Context&);
std::string broadcast(const Operation&, const Context&);
std::string cat(const Operation&, const Context&);
std::string constant(const Operation&, const Context&);
std::string divi(const Operation&, const Context&);
std::string extract(const Operation&, const Context&);
std::string f32_only_flush(const Operation&, const Context&);
std::string float_rounding(const Operation&, const Context&);
std::string ftof(const Operation&, const Context&);
std::string for_loop(const Operation&, const Context&);
std::string get_global(const Operation&, const Context&);
std::string if_else(const Operation&, const Context&);
std::string index_space(const Operation&, const Context&);
std::string insert(const Operation&, const Context&);
std::string iota(const Operation&, const Context&);
std::string leaves_loop(const Operation&, const Context&);
std::string load_pointer(const Operation&, const Context&);
std::string load_view(const Operation&, const Context&);
std::string loop(const Operation&, const Context&);
std::string make_tensor_view(const Operation&, const Context&);
std::string make_view(const Operation&, const Context&);
std::string mmaf(const Operation&, const Context&);
std::string mmaf_scaled(const Operation&, const Context&);
std::string mmai(const Operation&, const Context&);
std::string offset(const Operation&, const Context&);
std::string pack(const Operation&, const Context&);
std::string permute(const Operation&, const Context&);
std::string prints(const Operation&, const Context&);
std::string reduce(const Operation&, const Context&);
std::string reshape(const Operation&, const Context&);
std::string returns(const Operation&, const Context&);
std::string scan(const Operation&, const Context&);
std::string store_pointer(const Operation&, const Context&);
std::string store_view(const Operation&, const Context&);
std::string tensor_shape(const Operation&, const Context&);
std::string unpack(const Operation&, const Context&);
std::string widen(const Operation&, const Context&);
std::string narrow(const Operation&, const Context&);
std::string yields(const Operation&, const Context&);

}  // namespace deplo::ir::tile_program::checks
