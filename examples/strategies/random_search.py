# Random search: every candidate once, in random order.
import deplo_search

space = deplo_search.connect("random search")
while True:
    space.evaluate(space.random())
