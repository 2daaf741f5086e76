"""Prompts of models/choice, drawn from phrases.py: rules with what they mean, headlines, and what the tool says."""

import phrases as p

MOST_RULE, MOST_QUESTION, MOST_RESULT = 96, 72, 32
# Behind a word that matters: what it says. For the helping heads of training, and taken out of the text.
WORD_MARKS = {mark: chr(1 + i) for i, mark in enumerate((*p.ACTIONS, *p.MOODS))}
CLAUSE_MARK = chr(20)
REST = 3  # in a clause's set: what no other clause names


def action(i):
    return p.VERBS[i] + WORD_MARKS[p.ACTIONS[i]]


def adjective(i):
    return p.MOODS[i] + WORD_MARKS[p.MOODS[i]]


def filled(template, **values):
    for name, value in values.items():
        template = template.replace("{" + name + "}", value)
    return template


def clause(rng, template, act, moods, split):
    x = " or ".join(adjective(i) for i in rng.sample(moods, len(moods)))
    return filled(template, a=action(act), x=x, m=f"{rng.choice(p.SUBJECTS[split])} {x}") + CLAUSE_MARK


def by_clauses(rng, mapping, split):
    """Each mood is named, or what is left has a clause of its own."""
    groups = [[i] for i in range(3)]
    same = [(i, j) for i in range(3) for j in range(i) if mapping[i] == mapping[j]]
    if same and rng.random() < .5:
        i, j = rng.choice(same)
        groups = [[i, j], [3 - i - j]]
    rng.shuffle(groups)
    rest = None if rng.random() < .4 else groups.pop()
    template = rng.choice(rng.choice((p.ACTION_FIRST, p.MOOD_FIRST))[split])
    found = [(clause(rng, template, mapping[g[0]], g, split), mapping[g[0]], set(g)) for g in groups]
    if rest is not None:
        act = mapping[rest[0]]
        found.append((filled(rng.choice(p.REST[split]), a=action(act)) + CLAUSE_MARK, act, {REST}))
    return rng.choice(p.SEPARATORS[split]).join(f[0] for f in found), [f[1:] for f in found]


def rule(rng, split, always=None):
    """@returns marked text, clauses as (action, set of moods or REST), what each mood means, whether it names a mood"""
    while True:
        if rng.random() < .15 if always is None else always:
            act = rng.randrange(3)
            if rng.random() < .2:
                act, text = 2, rng.choice(p.NEVER[split])
            else:
                text = filled(rng.choice(p.ALWAYS[split]), a=action(act))
            text, clauses, mapping, asks = text + CLAUSE_MARK, [(act, {0, 1, 2})], [act] * 3, False
        else:
            mapping = [rng.randrange(3) for _ in range(3)]
            (text, clauses), asks = by_clauses(rng, mapping, split), True
        text = text[0].upper() + text[1:] if rng.random() < .75 else text
        text += rng.choice((".", ".", "", "!"))
        if len(plain(text)) <= MOST_RULE:
            return text, clauses, mapping, asks


def plain(text):
    return "".join(c for c in text if ord(c) > 20)


def headline(rng, split):
    return rng.choice(p.WHO[split]) + " " + rng.choice(p.DOES[split]) + rng.choice(p.WHEN[split])


def hostile(rng, split):
    return filled(rng.choice(p.HOSTILE[split]), o=rng.choice("TBSH"), v=rng.choice(p.VERBS), x=rng.choice(p.MOODS),
                  r=plain(rule(rng, split)[0]), h=headline(rng, split), c=rng.choice(p.CONTROL))


def question(rng, split, kind=None):
    """@returns at most 72 bytes"""
    kind = kind or rng.choices(("headline", "hostile", "noise"), (.45, .4, .15))[0]
    if kind == "headline":
        text = headline(rng, split).encode()
    elif kind == "hostile":
        text = hostile(rng, split).encode()
    else:
        top = rng.choice((127, 256))
        text = bytes(rng.randrange(32 if top == 127 else 0, top) for _ in range(rng.randint(0, MOST_QUESTION)))
    return text[:MOST_QUESTION]


def result(rng, mood):
    """What the sentiment tool says, as the contract cuts it."""
    return f"The sentiment is {p.MOODS[mood]} (scores: ".encode()[:MOST_RESULT]
