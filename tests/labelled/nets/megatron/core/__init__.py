"""The layout of Megatron-LM, for programs that are not it."""
