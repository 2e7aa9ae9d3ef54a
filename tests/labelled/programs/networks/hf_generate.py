"""Generation with Llama of Transformers and its own cache."""
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM


def main(run):
    config = LlamaConfig(vocab_size=16000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=6,
                         num_attention_heads=16, num_key_value_heads=8)
    model = LlamaForCausalLM(config).to(run.device).eval()
    cache = DynamicCache(config=config)
    tokens = run.tokens(16, 512).to(run.device)
    with torch.no_grad():
        for token in range(32):
            with run.other_pass() if token else run.prompt():
                logits = model(input_ids=tokens, past_key_values=cache, use_cache=True).logits
                run.label("kv_cache", [[layer.keys, layer.values] for layer in cache.layers])
                tokens = logits[:, -1:].argmax(-1)
    run.snapshot()
