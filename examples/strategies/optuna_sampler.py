# Runs one of Optuna's samplers (https://optuna.org): --search "exec:python3 optuna_sampler.py TPESampler"
import sys

import deplo_search

try:
    import optuna
except ImportError as error:
    sys.exit("expected the Python package optuna (pip install optuna), found: %s" % error)

optuna.logging.set_verbosity(optuna.logging.ERROR)
name = sys.argv[1] if len(sys.argv) > 1 else "TPESampler"
if not hasattr(optuna.samplers, name):
    sys.exit("expected a sampler of Optuna, found '%s'" % name)
space = deplo_search.connect("Optuna: " + name)
study = optuna.create_study(sampler=getattr(optuna.samplers, name)(seed=space.seed))
ordered = {knob.name: sorted(knob.options) for knob in space.knobs if knob.kind == "integer"}
distributions = {
    knob.name: optuna.distributions.IntDistribution(0, len(knob.options) - 1)  # the place among the options
    if knob.name in ordered
    else optuna.distributions.CategoricalDistribution(knob.options)
    for knob in space.knobs
}
while True:
    trial = study.ask(distributions)
    wish = {n: ordered[n][v] if n in ordered else v for n, v in trial.params.items()}
    result = space.evaluate(wish)
    if result.ok:
        study.tell(trial, result.us)
    else:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
