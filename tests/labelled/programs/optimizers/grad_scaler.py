"""Mixed precision in 16 bit with a scaler that unscales gradients, clips them and may skip a step."""
import torch

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    scaler = torch.amp.GradScaler(run.device.type)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            with torch.autocast("cuda", torch.float16):
                loss = loss_of(model(tokens), targets)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    run.snapshot()
