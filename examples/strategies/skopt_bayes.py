# Bayesian optimisation by scikit-optimize: a Gaussian process of the log time chooses among 300 random candidates
# that were not measured yet.
import math
import sys

import deplo_search

try:
    import numpy
    from skopt.learning import GaussianProcessRegressor
    from skopt.learning.gaussian_process.kernels import Matern, WhiteKernel
except ImportError as error:
    sys.exit("expected the Python package scikit-optimize (pip install scikit-optimize), found: %s" % error)

space = deplo_search.connect("scikit-optimize")


def point(config):  # the place of each value among the options, from 0 to 1; -1 for a knob that it lacks
    return [knob.options.index(config[knob.name]) / max(len(knob.options) - 1, 1) if knob.name in config else -1
            for knob in space.knobs]


space.evaluate_all([space.random()] * 8)
while True:
    valid = [each for each in space.results.values() if each.ok]
    pool = [each for each in space.draw(300) if each.status is None]
    if len(valid) < 4 or not pool:
        space.evaluate(space.random())
        continue
    model = GaussianProcessRegressor(Matern(nu=2.5) + WhiteKernel(0.1), normalize_y=True, random_state=space.seed)
    model.fit([point(each.config) for each in valid], [math.log(each.us) for each in valid])
    mean, deviation = model.predict([point(each.config) for each in pool], return_std=True)
    # A fit takes longer the more candidates are valid, so more are asked for at a time.
    order = numpy.argsort(mean - 1.5 * deviation)[: max(1, len(valid) // 8)]
    space.evaluate_all([pool[i] for i in order])
