"""Learns when to hold a share, from nothing but rewards: a table of values by state and action (Q-learning).

    PYTHONPATH=packages/python python3 examples/learning-loop/learn.py --steps 100000

With Gymnasium installed it trains on `sandpit.gym`, without on `sandpit.Episodes`: both play the same episodes. Prices are synthetic
and have no memory, so nothing is to be gained here but the costs of trading less.
"""

import argparse
import importlib.util
import json
import random
import time

import sandpit

ACTIONS = range(3)


def state_of(before, observation):
    """Whether the middle of the quote rose or fell in the last step, and whether shares are held."""
    middle = (observation[0] + observation[1]) / 2
    last = middle if before is None else (before[0] + before[1]) / 2
    return int(middle > last) - int(middle < last), bool(observation[2] > 0)


def train(env, steps, seed):
    """Plays episodes until so many steps are done. The rewards of the episodes that were finished, and the table."""
    draws = random.Random(seed)
    values, rewards, total = {}, [], 0.0
    observation, _ = env.reset(seed=seed)
    state = state_of(None, observation)
    for step in range(steps):
        known = values.setdefault(state, [0.0] * 3)
        explores = draws.random() < 1 - step / steps
        action = draws.choice(ACTIONS) if explores else known.index(max(known))
        before = observation
        observation, reward, terminated, truncated, _ = env.step([action])
        after = state_of(before, observation)
        best = max(values.setdefault(after, [0.0] * 3))
        known[action] += 0.05 * (reward + 0.9 * best - known[action])
        state, total = after, total + reward
        if terminated or truncated:
            rewards.append(round(total, 2))
            total = 0.0
            observation, _ = env.reset(seed=seed + len(rewards))
            state = state_of(None, observation)
    return rewards, values


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=100_000)
    options.add_argument("--episode", type=int, default=390, help="steps of an episode")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    has_gymnasium = importlib.util.find_spec("gymnasium") is not None
    make = sandpit.gym if has_gymnasium else sandpit.Episodes
    with sandpit.connect() as client:
        env = make(client, symbols=["AAPL"], steps=given.episode)
        try:
            began = time.monotonic()
            rewards, values = train(env, given.steps, given.seed)
            seconds = time.monotonic() - began
        finally:
            env.close()
    table = {f"{move} {'held' if held else 'flat'}": [round(one, 4) for one in value] for (move, held), value in sorted(values.items())}
    print(json.dumps({"steps": given.steps, "rewards": rewards[-10:], "values": table}))
    print(json.dumps({"gymnasium": has_gymnasium, "stepsPerSecond": round(given.steps / seconds)}))


if __name__ == "__main__":
    main()
