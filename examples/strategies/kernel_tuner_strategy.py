# Runs a strategy of Kernel Tuner (https://github.com/KernelTuner/kernel_tuner, 1.5 or newer) unchanged:
#
#   --search "exec:python3 kernel_tuner_strategy.py genetic_algorithm popsize=30"
#   --search "exec:python3 kernel_tuner_strategy.py my_algorithm.py:MyOptAlg"     a class derived from OptAlg
#
# Kernel Tuner lists a whole space before it searches, so the space must be small enough to be listed. All its
# candidates must have the same knobs, as in recorded spaces and in the spaces of kernel files.
import ast
import importlib
import importlib.util
import random
import sys
import types

import deplo_search

try:
    import numpy
    from kernel_tuner import util
    from kernel_tuner.searchspace import Searchspace
    from kernel_tuner.strategies.wrapper import OptAlgWrapper
except ImportError as error:
    sys.exit("expected the Python package kernel_tuner (pip install kernel_tuner), found: %s" % error)


class Options(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Budget(util.TuningBudget):
    """deplo ends the program when the budget is spent; a strategy may only ask how much of it is spent."""

    def is_done(self):
        return False

    def raise_exception_if_done(self):
        pass


class Runner:
    """What Kernel Tuner's cost function calls in place of a device."""

    def __init__(self, space, names, budget):
        self.space, self.names, self.budget = space, names, budget
        self.dev = types.SimpleNamespace(max_threads=1024)

    def add_strategy_time(self, seconds):
        pass

    def run(self, configs, tuning_options):
        wishes = [{n: getattr(v, "item", lambda v=v: v)() for n, v in zip(self.names, c)} for c in configs]
        return [self.result(each) for each in self.space.evaluate_all(wishes)]

    def result(self, each):
        if not each.repeated:
            self.budget.add_evaluations(1)
        if not each.ok:
            return dict(each.config, __error__=util.RuntimeFailedConfig())
        return dict(each.config, time=each.us / 1e3)


def searchspace_of(space):
    """Kernel Tuner's space, made of the list of all candidates, and the names of its parameters."""
    configs = [each.config for each in space.all()]
    names = [knob.name for knob in space.knobs]
    if any(set(config) != set(names) for config in configs):
        sys.exit("expected a space whose candidates all have the same knobs (Kernel Tuner needs it), found others")
    cache = {i: {n: config[n] for n in names} for i, config in enumerate(configs)}
    params = {knob.name: list(knob.options) for knob in space.knobs}
    return Searchspace(None, None, None, from_cache={"tune_params": params, "cache": cache}), names


def strategy_of(name, options):
    """A module of kernel_tuner.strategies, or FILE.py:CLASS, and what is left of the options."""
    if ":" not in name:
        return importlib.import_module("kernel_tuner.strategies." + name), options
    file, cls = name.rsplit(":", 1)
    spec = importlib.util.spec_from_file_location("strategy", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    own = getattr(module, cls)(**options)
    aware = {"constraint_aware": own.constraint_aware} if hasattr(own, "constraint_aware") else {}
    return OptAlgWrapper(own), aware


def value_of(text):
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def main():
    if len(sys.argv) < 2:
        sys.exit("expected the name of a strategy of Kernel Tuner, or FILE.py:CLASS")
    given = {name: value_of(value) for name, value in (each.split("=", 1) for each in sys.argv[2:])}
    strategy, options = strategy_of(sys.argv[1], given)
    space = deplo_search.connect("Kernel Tuner: " + sys.argv[1])
    random.seed(space.seed)
    numpy.random.seed(space.seed)
    options.update(space.parameters)
    searchspace, names = searchspace_of(space)
    budget = Budget(max_fevals=space.trials or searchspace.size)
    tuning_options = Options(
        strategy_options=Options(options), objective=["time"], objective_higher_is_better=[False], verbose=False,
        budget=budget, cache={}, unique_results={}, time_limit=None, max_fevals=budget.max_fevals)
    while not space.trials or budget.num_fevals < space.trials:
        before = budget.num_fevals
        strategy.tune(searchspace, Runner(space, names, budget), tuning_options)
        if budget.num_fevals == before:  # it has nothing left to try
            break
    space.done()


main()
