"""Recording a memory history, and telling what happened when memory ran out."""
