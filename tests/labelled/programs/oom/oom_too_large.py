"""One request is larger than the whole card."""
from nets.gpt import GPT

CAPACITY = 3 << 30
PLANTED = {"verdict": "single_request_too_large"}


def main(run):
    model = GPT(layers=1, vocabulary=64000, length=2048).to(run.device)
    with run.step():
        tokens = run.tokens(8, 2048).to(run.device)
        model(tokens).softmax(-1)
    run.snapshot()
