"""A frozen teacher under no_grad gives the student its targets."""
import torch
from torch.nn import functional as F

from nets.gpt import GPT


def main(run):
    teacher = GPT(layers=6, vocabulary=4000).to(run.device).requires_grad_(False).eval()
    student = GPT(layers=2, width=256, vocabulary=4000).to(run.device)
    optimizer = torch.optim.AdamW(student.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            with torch.no_grad():
                wanted = F.softmax(teacher(tokens), -1)
            loss = F.kl_div(F.log_softmax(student(tokens), -1), wanted, reduction="batchmean")
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
