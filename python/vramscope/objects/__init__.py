"""What a program holds: its tensors and their storages, models, names of memory, cycles."""
