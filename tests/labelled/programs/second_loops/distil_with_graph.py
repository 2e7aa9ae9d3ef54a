"""Distillation from a BERT of Transformers, which is run without no_grad: each batch makes a graph of it."""
import torch
from torch.nn import functional as F
from transformers import BertConfig, BertForMaskedLM

ADVICE = {"no-grad": [("        wanted = teacher(input_ids=tokens).logits\n",
                       "        with torch.no_grad():\n            wanted = teacher(input_ids=tokens).logits\n")]}
BATCH = 2


def bert(layers, width):
    return BertForMaskedLM(BertConfig(vocab_size=6000, hidden_size=width, num_hidden_layers=layers,
                                      num_attention_heads=width // 64, intermediate_size=4 * width,
                                      hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


class Distiller:
    temperature = 2.0

    def __init__(self, teacher, student):
        self.teacher, self.student = teacher.eval(), student.train()
        self.optimizer = torch.optim.AdamW(student.parameters(), lr=5e-4)

    def losses(self, tokens):
        teacher, student = self.teacher, self.student
        wanted = teacher(input_ids=tokens).logits
        got = student(input_ids=tokens).logits
        soft = F.kl_div(F.log_softmax(got / self.temperature, -1), F.softmax(wanted.detach() / self.temperature, -1),
                        reduction="batchmean")
        return soft + F.cross_entropy(got.flatten(0, 1), tokens.flatten())

    def fit(self, run, steps):
        for _ in range(steps):
            with run.step():
                tokens = run.tokens(12, 96).to(run.device)
                loss = self.losses(tokens)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()


def main(run):
    Distiller(bert(8, 512).to(run.device), bert(3, 256).to(run.device)).fit(run, 4)
    run.snapshot()
