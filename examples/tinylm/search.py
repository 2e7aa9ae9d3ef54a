"""Embed documents, then find the nearest rows of a large corpus for each of them."""
import torch
from torch.profiler import record_function

from data import documents
from model import TinyLM

WIDTH, ROWS, PARTS, NEAREST = 1024, 98304, 20, 1024


def reserve(gib):
    """Takes most of the card in one piece, so that nothing later waits for cudaMalloc."""
    torch.cuda.empty_cache()
    torch.empty(gib << 30, dtype=torch.uint8, device="cuda")


@torch.no_grad()
def embed(model, lengths):
    vectors = []
    for number, tokens in enumerate(documents(32000, 8, lengths)):
        with record_function(f"documents {number}"):
            x = tokens.to("cuda")
            states = model.hidden(x)
            vectors.append(states[:, ::4].flatten(0, 1))
    return torch.cat(vectors)


@torch.no_grad()
def search(queries, corpus, rows, found):
    tables = []
    for number, part in enumerate(corpus.split(rows)):
        with record_function(f"part {number}"):
            table = queries @ part.T
            tables.append(table)
            found.append(table.topk(NEAREST))
    return torch.stack([table.amax() for table in tables])


def main():
    lengths = [512] * 4
    torch.cuda.memory._record_memory_history()
    model = TinyLM(32000, WIDTH, 16, 6, max(lengths)).to("cuda", torch.bfloat16)
    queries = embed(model, lengths)
    corpus = torch.zeros(PARTS * ROWS, WIDTH, dtype=torch.bfloat16, device="cuda")
    reserve(19)
    found = []
    for rows in (ROWS, 2 * ROWS):
        try:
            best = search(queries, corpus, rows, found)
        except torch.cuda.OutOfMemoryError:
            print(f"out of memory with {rows} rows")
    torch.cuda.memory._dump_snapshot("fragmentation.pickle")


if __name__ == "__main__":
    main()
