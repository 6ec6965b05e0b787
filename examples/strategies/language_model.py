# What a language model needs to drive a search. The program writes the prompt that it would send to standard error,
# and takes the answers from a file: a JSON object of knobs and values on each line.
#
#   --search "exec:python3 language_model.py answers.jsonl"
import json
import sys

import deplo_search

if len(sys.argv) != 2:
    sys.exit("expected a file with the model's answers, one JSON object on each line")
with open(sys.argv[1]) as file:
    answers = [json.loads(line) for line in file if line.strip()]
space = deplo_search.connect("language model")


def prompt():
    knobs = "\n".join("- %s: one of %s. %s" % (k.name, k.options, k.meaning) for k in space.knobs)
    times = "\n".join("%s -> %s" % (json.dumps(r.config), "%.4g us" % r.us if r.ok else r.status)
                      for r in space.results.values() if r.status)
    return ("Choose values that make this kernel fast on %s.\n\n%s\n\nThe knobs:\n%s\n\nMeasured so far:\n%s\n\n"
            "Answer with one JSON object of knobs and values." % (space.device, space.source, knobs, times))


for answer in answers:
    space.wait()
    print(prompt())
    result = space.evaluate(answer)
    print("the answer %s became %s\n" % (json.dumps(answer), result))
space.done()
