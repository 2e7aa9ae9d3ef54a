"""python -m vramscope VERB: verbs that need Python; every other one executes the command."""
import importlib
import sys

from vramscope import _command

# What is no verb of the command: the module whose `main` takes the words after it.
VERBS = {
    ("doctor",): "vramscope._doctor",
    ("run",): "vramscope.running.run",
    ("snapshot", "html"): "vramscope._trace_plot",
    ("trace_plot",): "vramscope._trace_plot",
}


def main(words: list[str]) -> int:
    for verb, module in VERBS.items():
        if tuple(words[:len(verb)]) == verb:
            status: int = importlib.import_module(module).main(words[len(verb):])
            return status
    return _command.execute(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
