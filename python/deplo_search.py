"""A search strategy for deplo in a few lines of Python: one file, no dependency, Python 3.8 or newer.

    import deplo_search
    space = deplo_search.connect()
    while True:
        space.evaluate(space.random())

    deplo-tune --config experiments/smoke.yaml --search "exec:python3 random_search.py"

deplo puts this folder on PYTHONPATH. docs/protocol.md describes the protocol. Whatever the program prints goes to
standard error, because deplo reads standard output. The program ends when deplo ends the search: every call may raise
SystemExit.
"""
import json
import random
import sys

PROTOCOL = 1
RANDOM = {"random": True}


class Result:
    """The result of one configuration.

    `us`: the time in microseconds, or None if the configuration failed. `status`: "ok", or the kind of failure.
    `seconds`: how long the measurement took. `effort`: the share of a full measurement. `repeated`: whether the
    program had asked for this configuration before.
    """

    __slots__ = ("id", "config", "us", "status", "seconds", "effort", "message", "repeated")

    def __init__(self, id, config):
        self.id, self.config = id, config
        self.us, self.status, self.seconds, self.effort = None, None, 0.0, 0.0
        self.message, self.repeated = "", False

    @property
    def ok(self):
        return self.us is not None

    @property
    def cost(self):
        """The time, or infinity for a failure."""
        return self.us if self.us is not None else float("inf")

    def __repr__(self):
        return "Result(%d, %s, %s)" % (self.id, self.config, self.us if self.ok else self.status)


class Knob:
    """`kind` is "integer", "text" or "on_off"; `meaning` is a text for people and language models."""

    def __init__(self, name, kind, options, meaning):
        self.name, self.kind, self.options, self.meaning = name, kind, options, meaning

    def __repr__(self):
        return "Knob(%r, %r, %r)" % (self.name, self.kind, self.options)


def _number(value):
    """Converts a NumPy number, which many optimizers return, to a Python number."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError("expected numbers and strings in a wish, found %r" % (value,))


class Space:
    """The space to search, and the measurements so far. connect() makes it.

    A wish is a dict from knobs to values. It may leave out knobs, which then have their defaults. deplo takes the
    nearest candidate that exists. A wish may also be a Result, the number of a candidate, or random().
    """

    def __init__(self, name, learns):
        self._in, self._out = sys.stdin, sys.stdout
        sys.stdout = sys.stderr  # so that print() does not break the protocol
        hello = self._read()
        if hello.get("type") != "hello" or hello.get("protocol") != PROTOCOL:
            raise RuntimeError("expected deplo's hello of protocol %d, found %r" % (PROTOCOL, hello))
        self.seed = hello["seed"]
        self.parameters = hello["parameters"]  # of --set NAME=VALUE
        self.trials = hello["budget"]["trials"]  # None: not limited
        self.seconds = hello["budget"]["seconds"]
        self.kernel, self.source = hello["kernel"]["name"], hello["kernel"]["text"]
        self.device = hello["device"]
        self.objective = hello.get("objective", "time (µs)")  # what Result.us is
        self.knobs = [Knob(k["name"], k["kind"], k["options"], k["meaning"]) for k in hello["knobs"]]
        self.results = {}  # id -> Result of every measurement, also those that deplo made on its own
        self._known = {}  # id -> Result of every candidate that has a number, also those without a measurement
        self.best = None  # the fastest Result
        self.warm_start = []  # lists of (config, us or None) from other devices and shapes
        self.rng = random.Random(self.seed)
        self._asked = 0  # how many candidates deplo waits for
        self._write({"type": "hello", "protocol": PROTOCOL, "name": name, "learns": learns})

    # What a strategy calls.

    def random(self):
        """A wish for a random new candidate. All have the same chance if the space is small enough to count them."""
        return RANDOM

    def evaluate(self, wish, effort=1):
        """Lets deplo measure one candidate. Returns its Result."""
        return self.evaluate_all([wish], effort)[0]

    def evaluate_all(self, wishes, effort=1):
        """Lets deplo measure candidates, as many at a time as it can build ahead. Returns their Results, in order."""
        waiting = [dict(self._asked_for(wish), effort=effort) for wish in wishes]
        found = []
        while waiting or any(one.status is None or one.effort < effort for one in found):
            if not waiting and self._asked:  # deplo can build more, and there is nothing to ask for
                self._propose([RANDOM] * self._asked)
            elif waiting:
                self.wait()
                found += self._propose([waiting.pop(0) for _ in range(min(self._asked, len(waiting)))])
            else:
                self._receive()
        return found

    def draw(self, n):
        """Returns n random candidates, as Results without a time. They are not measured, and may repeat."""
        return [self._result(each) for each in self._query(query="random", n=n)["candidates"]]

    def repair(self, wish):
        """Returns the candidate that a wish would become, as a Result. It is not measured."""
        return self._result(self._query(query="repair", wish=wish)["candidates"][0])

    def neighbours(self, result):
        """Returns wishes for all candidates that differ from this one in one choice."""
        return self._query(query="neighbours", id=result.id)["wishes"]

    def all(self):
        """Returns every candidate, as Results. Raises RuntimeError if there are too many to list."""
        answer = self._query(query="all")
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return [self._result(each) for each in answer["candidates"]]

    def wait(self):
        """Waits until deplo asks for more candidates. `results` then has all measurements."""
        while not self._asked:
            self._receive()

    def done(self):
        """Ends the search before the budget does."""
        self.wait()
        self._write({"type": "done"})
        while True:
            self._receive()

    # The protocol.

    def _read(self):
        line = self._in.readline()
        if not line:
            raise SystemExit(0)
        message = json.loads(line)
        if message["type"] == "bye":
            raise SystemExit(0)
        return message

    def _write(self, message):
        self._out.write(json.dumps(message, separators=(",", ":"), default=_number) + "\n")
        self._out.flush()

    def _receive(self):
        message = self._read()
        kind = message["type"]
        if kind == "ask":
            self._asked = message["n"]
        elif kind == "tell":
            self._told(message)
        elif kind == "warm_start":
            self.warm_start = [[(t["config"], t["us"]) for t in source] for source in message["sources"]]

    def _query(self, **query):
        self.wait()
        self._write(dict(query, type="query"))
        return self._read()

    def _propose(self, candidates):
        self._write({"type": "candidates", "candidates": candidates})
        self._asked = 0
        found = []
        for each in self._read()["candidates"]:
            if each is None:  # a random candidate, and none is left
                self.done()
            result = self._result(each)
            result.repeated = each.get("repeated", False)
            found.append(self._told(each) if "status" in each else result)
        return found

    def _told(self, message):
        result = self._result(message)
        result.us, result.status = message["us"], message["status"]
        result.seconds, result.effort = message["seconds"], message["effort"]
        result.message = message.get("message", "")
        self.results[result.id] = result
        if result.ok and result.effort == 1 and (self.best is None or result.us < self.best.us):
            self.best = result
        return result

    def _result(self, message):
        if message["id"] not in self._known:
            self._known[message["id"]] = Result(message["id"], message["config"])
        return self._known[message["id"]]

    @staticmethod
    def _asked_for(wish):
        if wish is RANDOM:
            return RANDOM
        if isinstance(wish, Result):
            return {"id": wish.id}
        return {"id": wish} if isinstance(wish, int) else {"wish": wish}


def connect(name="", learns=False):
    """Connects to deplo, and returns the space. `learns`: whether the strategy uses Space.warm_start."""
    return Space(name or sys.argv[0], learns)
