# First-improvement hill climbing with random restarts: among candidates that differ in one choice, go to the first
# that is faster. If none is faster, begin again at a random candidate.
import deplo_search

space = deplo_search.connect("hill climber")
while True:
    here = space.evaluate(space.random())
    climbing = True
    while climbing:
        climbing = False
        wishes = space.neighbours(here)
        space.rng.shuffle(wishes)
        for wish in wishes:
            there = space.evaluate(wish)
            if there.cost < here.cost:
                here, climbing = there, True
                break
