// Private to rules/materialize: the state of one lowering from scheduled Tile IR to Kernel IR.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/walk.h"

namespace deplo::rules {

/// Which REG axes (one bit each, by position) and whether the VECTOR axis a value depends on.
struct Dependence {
  std::uint64_t reg = 0;
  bool vector = false;
  Dependence& operator|=(const Dependence& other) { return reg |= other.reg, vector |= other.vector, *this; }
};

class Materializer {
 public:
  Materializer(const ir::Program& tile, const Target& target);
  ir::Program run();

 private:
  using Instance = std::vector<std::int64_t>;  // one value per REG axis
  // What a Tile IR value became: a Kernel IR name per combination of the REG axes it depends on.
  struct Copies {
    Dependence on;
    ir::DType dtype = ir::DType::f32;
    std::vector<std::string> names;
  };

  void find_dependences(const ir::Body&, Dependence context), find_fusible(const ir::Body&);
  Dependence of(const ir::Expr&) const, of(const std::vector<ir::Expr>&) const, of(const std::vector<ir::Arg>&) const;

  void body(const ir::Body& from, ir::Body& to);
  void statement(const ir::Stmt&, ir::Body&), init(const ir::AccumulatorStart&, ir::Body&);
  void lower(const ir::Load&, ir::Body&), lower(const ir::Index&, ir::Body&), lower(const ir::Assign&, ir::Body&);
  void lower(const ir::Accum&, ir::Body&), lower(const ir::Write&, ir::Body&), lower(const ir::Loop&, ir::Body&);
  void lower(const ir::If&, ir::Body&), lower(const ir::Combine&, ir::Body&), lower(const ir::AsyncWait&, ir::Body&);
  void lower(const ir::Prefetch&, ir::Body&);
  // combine.cpp
  struct Group;  // the threads that merge
  std::string combine_threads(const ir::Combine&, const std::string& partial, ir::Body& to);
  std::string shuffle(const ir::Combine&, const Group&, std::string partial, ir::Body& to);
  std::string halve(const ir::Combine&, const Group&, const std::string& partial, ir::Body& to);
  std::string shared_for(const std::string& partial, std::vector<std::int64_t> shape, ir::DType);
  // stage.cpp
  void declare(const ir::Stage&);
  bool needs_barrier_before(std::span<const ir::Stmt> run) const;
  void fill(std::span<const ir::Stmt> run, ir::Body&), fill(const ir::Stage&, ir::Body&);
  void load_boxes(std::span<const ir::Stmt> run, ir::Body& to);
  void load_box(const ir::Stage&, ir::Body& to) const;
  ir::Loop copy_loop(std::int64_t copies);
  ir::Body copy_element(const ir::Stage&, const ir::Buffer& source, const std::vector<ir::Expr>& to,
                        const std::vector<ir::Expr>& from, int lanes);
  std::vector<ir::Expr> place(const ir::Stage&, std::vector<ir::Expr> in_slab) const;
  std::size_t count(const Dependence&) const, position(const Dependence&, const Instance&) const;
  std::vector<Instance> instances(const Dependence&) const;
  std::vector<ir::Arg> at(const std::vector<ir::Arg>&, const Instance&) const;
  std::vector<ir::Expr> at(const std::vector<ir::Expr>&, const Instance&) const;
  std::optional<ir::Expr> replacement(const std::string&, const Instance&, const ir::Expr& lane) const;
  ir::Expr at(const ir::Expr&, const Instance&, const ir::Expr& lane = 0) const;
  ir::Expr at(const ir::Expr& e) const { return at(e, Instance(regs_.size(), 0)); }
  std::vector<ir::Expr> at(const std::vector<ir::Expr>& list) const { return at(list, Instance(regs_.size(), 0)); }
  template <class F>
  void each_instance(const Dependence& on, F&& f);  // f(instance), and inside it no other instance
  const std::string& define(const std::string& value, ir::DType, const Dependence& on, const Instance& instance);
  std::string fresh(const std::string& like);
  std::string fresh_axis() { return "f" + std::to_string(next_axis_++) + "_"; }  // no value is called so
  ir::Type type(ir::DType dtype, const Dependence& on) const { return {dtype, on.vector ? width_ : 1}; }
  ir::Expr thread_id() const;
  const ir::Program& tile_program_;
  const Target& target_;
  const ir::Tile* tile_ = nullptr;
  std::vector<ir::Axis> regs_;
  std::vector<std::optional<std::int64_t>> fixed_;  // one per REG axis: inside a statement replicated over it
  std::int64_t threads_ = 1, barriers_ = 0;         // barriers: what TMA reports to, one per slot
  int width_ = 1, next_axis_ = 0;
  std::map<std::string, Dependence> axes_, partial_;  // REG, VECTOR and loops from them; values, before any Combine
  std::map<std::string, Copies> values_;
  std::map<std::string, ir::DType> accumulators_;
  std::map<std::string, std::vector<ir::Arg>> fused_;  // products that become fma
  std::map<std::string, int> next_;
  std::set<std::string, std::less<>> buffers_;  // names that values must not take
  ir::Ranges scope_;
  ir::Substitution axis_names_;  // of the loops around: what they are called in the kernel
  std::vector<ir::AccumulatorStart> starts_;
  std::map<std::string, const ir::Stage*, std::less<>> stages_;  // the first of each buffer
  ir::Body shared_, descriptors_;                                // declarations of the Tile and before it
  std::string lane_, barrier_ = "mbar";
  bool async_ = false;              // cp.async somewhere
  std::vector<std::string> loops_;  // axes of the loops around, outermost first
};

}  // namespace deplo::rules
