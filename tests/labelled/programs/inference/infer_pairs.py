"""Two models answer each batch in turn, without gradients."""
import torch

from nets.gpt import GPT


def main(run):
    asked, judge = (GPT(layers=3, vocabulary=8000).to(run.device).eval() for _ in range(2))
    with torch.inference_mode():
        for _ in range(6):
            with run.other_pass():
                tokens = run.tokens(8, 256).to(run.device)
                answer = asked(tokens).argmax(-1)
                score = judge(answer).logsumexp(-1).mean()
    run.snapshot()
