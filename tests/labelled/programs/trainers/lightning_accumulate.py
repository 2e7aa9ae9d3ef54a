"""Lightning accumulates four batches a step: all but the last run without the optimizer's closure."""
from nets.gpt import GPT
from nets.trainer import Task, loader, trainer

HARMFUL = ("grad-late-zero",)


def main(run):
    trainer(run, max_steps=4, accumulate_grad_batches=4).fit(Task(run, GPT(), micro=4), loader(run, 16, 2))
