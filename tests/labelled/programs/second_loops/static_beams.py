"""Beam search with GPT-2 of Transformers over a cache made once, reordered in place."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel, StaticCache


def beams(run, model, cache, prompt, count):
    with run.prompt():
        at = torch.arange(prompt.size(1)).to(run.device)
        logits = model(input_ids=prompt, past_key_values=cache, cache_position=at, use_cache=True).logits[:, -1]
        run.label("kv_cache", [[layer.keys, layer.values] for layer in cache.layers])
        scores, words = logits.log_softmax(-1).max(-1)
    for token in range(count):
        with run.other_pass():
            at = torch.tensor([prompt.size(1) + token]).to(run.device)
            answer = model(input_ids=words[:, None], past_key_values=cache, cache_position=at, use_cache=True)
            logits = answer.logits[:, -1]
            total = (scores[:, None] + logits.log_softmax(-1)).view(prompt.size(0) // 4, -1)
            scores, best = (t.flatten() for t in total.topk(4, dim=-1))
            words = best % logits.size(-1)
    return scores


def main(run):
    config = GPT2Config(vocab_size=12000, n_positions=512, n_embd=768, n_layer=6, n_head=12)
    model = GPT2LMHeadModel(config).to(run.device).eval()
    cache = StaticCache(config=config, max_cache_len=320)
    with torch.inference_mode():
        beams(run, model, cache, run.tokens(32, 256).to(run.device), 20)
    run.snapshot()
