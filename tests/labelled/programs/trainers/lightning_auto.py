"""Lightning's automatic optimization: forward and backward run in a closure inside the optimizer's step."""
from nets.gpt import GPT
from nets.trainer import Task, loader, trainer

BATCH = 2


def main(run):
    trainer(run, max_steps=5).fit(Task(run, GPT()), loader(run, 5))
