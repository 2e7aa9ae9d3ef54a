"""A model of nine equal blocks runs out of memory in the first forward, inside the optimizer's closure."""
from nets.gpt import GPT
from nets.trainer import Task, loader, trainer

CAPACITY = 1500 << 20
PLANTED = {"verdict": "live_exceeds_capacity"}
ADVICE = {"checkpoint": [("vocabulary=2000)", "vocabulary=2000, recompute=False)")]}


def main(run):
    trainer(run, max_steps=3).fit(Task(run, GPT(layers=9, vocabulary=2000)), loader(run, 3, 32))
