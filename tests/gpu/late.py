"""9: under `run`, CUDA is not begun before the program does: a fork works, and so does a choice of devices."""
import os

import torch

before = torch.cuda.is_initialized()
child = os.fork()
if child == 0:
    torch.zeros(1, device="cuda")
    os._exit(0)
forked = os.waitpid(child, 0)[1]
os.environ["CUDA_VISIBLE_DEVICES"] = "0"

import device  # noqa: E402

device.say(before=before, forked=forked, devices=torch.cuda.device_count(),
           after=float(torch.ones(1, device="cuda").item()))
