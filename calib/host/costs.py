"""From what parts take to what one call of each kind takes, and to the time of a layer.

A part's backward pass is a node of the graph, and the operators that it calls from C++. The part
"add" has a node alone. Operators without a graph are called from Python, as within functions of
autograd.
"""

from statistics import mean

FORWARD, NO_GRAPH, BACKWARD = range(3)
OPERATORS = ("elementwise", "norm", "product", "view")
CALLS = ("module", "function", "fork")
KINDS = OPERATORS + CALLS + ("node", "scripted", "checkpoint", "parameter", "hook")
PASSES = ("forward", "no_graph", "backward")


def means(parts, values):
    """Of the parts of a kind, pass by pass."""
    kinds = {}
    for part, row in zip(parts, values):
        kinds.setdefault(part.kind, []).append(row)
    return {kind: [mean(column) for column in zip(*rows)] for kind, rows in kinds.items()}


def costs_of(parts, values):
    """Microseconds of one call by kind, and pass; what a kind has none of is 0."""
    of = means(parts, values)
    node = of["node"][BACKWARD]
    costs = {kind: [*of[kind][:BACKWARD], of[kind][BACKWARD] - node] for kind in OPERATORS}
    # The product's node also transposes what it multiplies.
    costs["product"][BACKWARD] -= costs["view"][BACKWARD]
    costs |= {kind: [*of[kind][:BACKWARD], 0.0] for kind in CALLS}
    costs["function"][BACKWARD] = of["function"][BACKWARD]
    costs["node"] = [0.0, 0.0, node]
    one = costs["elementwise"]
    costs["scripted"] = [of["scripted"][i] - one[i] for i in (FORWARD, NO_GRAPH)]
    costs["scripted"].append(of["scripted"][BACKWARD] - node - one[BACKWARD])
    # A checkpoint runs a view, without a graph at first, and with one again.
    view = costs["view"]
    again = view[FORWARD] + view[BACKWARD] + node
    whole = of["checkpoint"]
    costs["checkpoint"] = [whole[FORWARD] - view[NO_GRAPH], whole[NO_GRAPH] - view[NO_GRAPH],
                           whole[BACKWARD] - again]
    # The node multiplies twice.
    plain = of["parameter"][BACKWARD] - node - 2 * one[BACKWARD]
    costs["parameter"] = [0.0, 0.0, plain]
    costs["hook"] = [0.0, 0.0, of["hook"][BACKWARD] - of["parameter"][BACKWARD]]
    return {kind: costs[kind] for kind in KINDS}


def layer_time(costs, counts):
    """The sum of the parts: microseconds forward and backward."""
    forward = sum(costs[kind][FORWARD if recorded else NO_GRAPH] * number
                  for (kind, recorded), number in counts["forward"].items())
    forward += sum(costs[kind][FORWARD] * counts[kind] for kind in CALLS + ("scripted",))
    backward = sum(costs[kind][NO_GRAPH if in_python else BACKWARD] * number
                   for (kind, in_python), number in counts["backward"].items())
    backward += sum(costs[kind][BACKWARD] * counts[kind]
                    for kind in ("function", "node", "scripted", "parameter"))
    return forward, backward
