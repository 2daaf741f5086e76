"""Trains models/choice and writes weights.gguf, scales.json, test-prompts.json and eval.json: python train.py

A rule and a question are read once for four answers: without a result, and with each of the three results, whose common
beginning is read once too. Two helping heads, which are not kept, learn the words and the clauses of a rule."""

import json
import random
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from export import CHOICE, QUESTION, RESULT, RULE, write
from gguf_file import half
from network import EPSILON, LAYERS, WIDTH, forward, initial
from sentences import CLAUSE_MARK, MOST_RESULT, REST, WORD_MARKS, question, result, rule

ANSWERS = [ord(c) for c in "TBSH"]
SEED, STEPS, BATCH, RATE, DECAY = 7, 1600, 16, 2e-3, .05
ROOMS = (76, 100, 128, 170)  # places of rule and question; the largest holds any
HELP = .5  # of the helping heads' losses
COMMON = 1 + len("The sentiment is ")
OWN = MOST_RESULT - COMMON + 1 + 1  # a result's own end, and the place of the choice
LANES = COMMON + 3 * OWN + 1
WORD_STATE, CLAUSE_STATE = LAYERS - 3, LAYERS - 2  # the layers that the helping heads read


def layout(room):
    """Places, and which of them another one reads: rule and question, then the result's beginning, three ends of it, and
    the choice without a result."""
    places = list(range(room + COMMON)) + [room + COMMON + i for i in range(OWN)] * 3 + [room]
    part = [0] * room + [1] * COMMON + [2] * OWN + [3] * OWN + [4] * OWN + [5]
    before = np.tril(np.ones((room + LANES, room + LANES), bool))
    reads = {0: {0}, 1: {0, 1}, 2: {0, 1, 2}, 3: {0, 1, 3}, 4: {0, 1, 4}, 5: {0, 5}}
    return np.array(places), before & np.array([[q in reads[p] for q in part] for p in part])


def prompts_of(rng, split, room, count, kind=None):
    """@returns ids [count, T] (-1: nothing), answers [count, 4], words [count, T], clauses [count, T, 8] with the last
    number 1 where a clause ends"""
    ids = np.full((count, room + LANES), -1)
    answers, words = np.zeros((count, 4), int), np.full((count, room + LANES), -1)
    clauses = np.zeros((count, room + LANES, 8), np.float32)
    for n in range(count):
        while True:
            text, found, mapping, asks = rule(rng, split)
            letters, at, named, ends = [], 0, [], []
            for c in text:
                if c == CLAUSE_MARK:
                    ends.append(at - 1)
                elif c in WORD_MARKS.values():
                    named.append((at - 1, ord(c)))
                else:
                    letters.append(c)
                    at += 1
            asked = question(rng, split, kind)[:max(0, room - at - 2)] if room < ROOMS[-1] else question(rng, split, kind)
            content = [RULE, *"".join(letters).encode(), QUESTION, *asked]
            if len(content) <= room:
                break
        begin = room - len(content)
        ids[n, begin:room] = content
        words[n, begin + 1:begin + 1 + at] = 0
        for place, mark in named:
            words[n, begin + 1 + place] = mark
        for place, (act, moods) in zip(ends, found, strict=True):
            row = clauses[n, begin + 1 + place]
            row[act] = row[7] = 1
            row[[3 + mood for mood in moods if mood <= REST]] = 1
        said = [[RESULT, *result(rng, mood)] for mood in range(3)]
        ids[n, room:] = [*said[0][:COMMON], *(i for each in said for i in (*each[COMMON:], CHOICE)), CHOICE]
        answers[n] = [1 + a for a in mapping] + [0 if asks else 1 + mapping[0]]
    return ids, answers, words, clauses


def reading(ids, mask):
    """A place without an id reads itself alone."""
    return (mask[None] & (ids >= 0)[:, None, :]) | jnp.eye(len(mask), dtype=bool)


CHOICES = [COMMON + OWN - 1, COMMON + 2 * OWN - 1, COMMON + 3 * OWN - 1, LANES - 1]  # behind the room


def scores_of(params, final):
    """Of the four choices, over all ids."""
    room = final.shape[1] - LANES
    return final[:, jnp.array([room + c for c in CHOICES])] @ params["token_embd.weight"].T


def loss_of(params, helpers, data, places, mask):
    ids, answers, words, clauses = data
    states, final = forward(params, jnp.maximum(ids, 0), places, reading(ids, mask))
    wanted = jnp.array(ANSWERS)[answers]
    choice = optax.softmax_cross_entropy_with_integer_labels(scores_of(params, final), wanted).mean()
    unit = lambda x: x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + EPSILON)  # noqa: E731
    word = optax.softmax_cross_entropy_with_integer_labels(unit(states[WORD_STATE]) @ helpers["words"], jnp.maximum(words, 0))
    weight = jnp.where(words > 0, 4., words == 0)
    clause = unit(states[CLAUSE_STATE]) @ helpers["clauses"]
    own = optax.sigmoid_binary_cross_entropy(clause, clauses[..., :7]).sum(-1) * clauses[..., 7]
    helped = (word * weight).sum() / weight.sum() + own.sum() / clauses[..., 7].sum()
    return choice + HELP * helped, choice


def train(steps, seconds=None):
    rng, numbers = random.Random(SEED), np.random.default_rng(SEED)
    params = initial(numbers)
    helpers = {"words": np.zeros((WIDTH, len(WORD_MARKS) + 1), np.float32), "clauses": np.zeros((WIDTH, 7), np.float32)}
    optimizer = optax.chain(optax.clip_by_global_norm(1.), optax.adamw(
        optax.warmup_cosine_decay_schedule(0, RATE, steps // 20, steps, RATE / 50), b2=.98, weight_decay=DECAY))
    layouts = {room: layout(room) for room in ROOMS}

    @jax.jit
    def step(both, state, data, mask):
        room = data[0].shape[1] - LANES
        (_, choice), grads = jax.value_and_grad(lambda b: loss_of(*b, data, layouts[room][0], mask), has_aux=True)(both)
        update, state = optimizer.update(grads, state, both)
        return optax.apply_updates(both, update), state, choice

    both = (params, helpers)
    state, mean, began = optimizer.init(both), 0., time.perf_counter()
    for n in range(steps):
        # Short prompts first: they show what matters, and cost less.
        room = ROOMS[0] if n < .4 * steps else rng.choices(ROOMS, (.4, .25, .15, .2))[0]
        data = prompts_of(rng, "train", room, BATCH)
        both, state, choice = step(both, state, data, layouts[room][1])
        mean += float(choice)
        if n % 100 == 99:
            print(f"step {n + 1}, {time.perf_counter() - began:.0f} s, loss {mean / 100:.4f}", flush=True)
            mean = 0.
            if n % 500 == 499:
                print(json.dumps(accuracy(both[0], "dev", 6)), flush=True)
    return {name: half(value) for name, value in both[0].items()}


@jax.jit
def chosen(params, ids):
    places, mask = layout(ids.shape[1] - LANES)
    _, final = forward(params, jnp.maximum(ids, 0), places, reading(ids, mask))
    return scores_of(params, final).argmax(-1)


def accuracy(params, split, batches, kind=None):
    """In %, by the result: each mood, then none; of rules that name moods and of others."""
    rng = random.Random(SEED + 1)
    right, asks = [], []
    for _ in range(batches):
        ids, answers, _, _ = prompts_of(rng, split, ROOMS[-1], 64, kind)
        right.append(np.array(ANSWERS)[answers] == np.asarray(chosen(params, ids)))
        asks.append(answers[:, 3] == 0)
    right, asks = np.concatenate(right), np.concatenate(asks)
    of = lambda hit: round(100 * float(hit.mean()), 2)  # noqa: E731
    return {"rules": len(asks), "bullish": of(right[asks, 0]), "bearish": of(right[asks, 1]), "neutral": of(right[asks, 2]),
            "no result": of(right[asks, 3]), "mood-free rule": of(right[~asks]), "all": of(right)}


def main():
    params = train(STEPS)
    print(json.dumps({split: accuracy(params, split, 8) for split in ("train", "dev")}))
    write(params)


if __name__ == "__main__":
    main()
