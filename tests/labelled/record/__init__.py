"""Records a training program without a GPU: what it asks of memory, and what each request truly is."""
