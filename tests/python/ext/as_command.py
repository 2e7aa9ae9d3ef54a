"""The command's words as calls of the package: what `vramscope VERB OPTIONS FILE...` prints, by the package alone."""
import os

import vramscope

VERBS = ("report", "peak", "oom", "leaks", "steps", "fragments", "categories", "advise", "replay", "check", "diff")
# Options of the method, by what they take.
FLAGS = {"quick", "trust", "all-metrics", "waste", "explain-silent", "sweep", "smallest", "anyway", "strict",
         "allow-estimates"}
VALUES = {"at", "by", "key", "message", "capacity", "to", "weight", "per", "fail-over", "device", "user-root",
          "library"}
LISTS = {"set", "drop", "scale", "free-early"}
# Options of the text.
TEXT_FLAGS = {"stacks", "all-frames", "all-ranks", "ascii"}
LIMITS = {"max-peak", "max-peak-active", "max-reserved", "max-end", "max-growth-per-step", "max-step-peak",
          "max-stranded", "max-slack", "max-pending", "max-category", "max-site", "max-device-peak", "headroom",
          "capacity", "max-unknown-share", "max-delta", "max-site-delta", "no-new-site", "tolerance"}
BARE_LIMITS = {"no-oom", "no-retry"}
SHORT = {"j": "json", "s": "stacks", "n": "rows"}


class Other(Exception):
    """What only the command does."""


class Words:
    def __init__(self, argv):
        self.verb, self.files, self.asked, self.shown, self.opened = argv[0], [], {}, {}, {}
        self.limits, self.format, self.rules, self.baseline, self.budget = [], "text", None, None, None
        if self.verb not in VERBS:
            raise Other(self.verb)
        words = list(argv[1:])
        while words:
            word = words.pop(0)
            if word == "--":
                self.files += words
                break
            if word.startswith("--"):
                name, equals, value = word[2:].partition("=")
                self.option(name, lambda: value if equals else words.pop(0))
            elif word.startswith("-") and len(word) > 1:
                name = SHORT.get(word[1]) or self.other(word)
                self.option(name, lambda: word[2:] or words.pop(0))
            else:
                self.files.append(word)

    def other(self, word):
        raise Other(word)

    def option(self, name, value):
        key = name.replace("-", "_")
        if self.verb == "check" and name in BARE_LIMITS:
            self.limits.append((name, None))
        elif self.verb == "check" and name in LIMITS:
            self.limits.append((name, value()))
        elif name in FLAGS:
            self.asked[key] = True
        elif name in VALUES:
            self.asked[key] = value()
        elif name in LISTS:
            self.asked.setdefault(key, []).append(value())
        elif name == "to-device":
            self.asked["b_device"] = value()
        elif name in TEXT_FLAGS:
            self.shown[key] = True
        elif name == "rows":
            self.shown["rows"] = int(value())
        elif name == "color":
            self.shown["colour"] = value() == "always"
        elif name in ("json", "csv", "markdown"):
            self.format = name
        elif name == "format":
            self.format = value()
        elif name in ("rules", "baseline", "budget"):
            setattr(self, name, value())
        elif name == "replay":
            self.opened["replay"] = value()
        elif name == "threads":
            self.opened["threads"] = int(value())
        elif name == "limit":
            name, _, most = value().partition("=")
            self.opened.setdefault("limits", {})[name] = most
        else:
            raise Other("--" + name)


class Command:
    """One run of the command, in its folder and environment."""

    def __init__(self, argv, folder, environment):
        self.words, self.folder, self.environment = Words(argv), folder, environment

    def path(self, name):
        return os.path.join(self.folder, name)

    def text_of(self, name):
        with open(self.path(name), encoding="utf-8", errors="surrogateescape") as file:
            return file.read()

    def load(self, name):
        if name == "-" or os.path.isdir(self.path(name)):
            raise Other("a pipe or a folder")
        return vramscope.load(self.path(name), **self.words.opened)

    def keywords(self):
        w = self.words
        asked = dict(w.asked)
        if w.verb == "report":
            asked.update(timeline=w.format == "json" and len(w.files) == 1, 
                         part=len(w.files) > 1 and w.format != "markdown")
        if w.verb == "peak":
            asked["categories"] = w.format in ("json", "csv")
        if w.rules:
            asked.update(rules=self.text_of(w.rules), rules_name=w.rules)
        if w.verb == "check":
            asked.update(limits=w.limits, baseline=self.load(w.baseline) if w.baseline else None)
            if w.budget:
                asked.update(budget=self.text_of(w.budget), budget_name=w.budget)
        return asked

    def result(self):
        w, asked = self.words, self.keywords()
        if w.verb == "diff":
            names = w.files * 2 if len(w.files) == 1 else w.files
            a, b = self.load(names[0]), self.load(names[1])
            return (a.diff(a, path=names[0], b_path=names[0], **asked) if len(w.files) == 1
                    else a.diff(b, path=names[0], b_path=names[1], **asked))
        limits = (asked.pop("limits"),) if w.verb == "check" else ()
        results = [getattr(self.load(name), w.verb)(*limits, path=name, **asked) for name in sorted(w.files)]
        return results[0] if len(results) == 1 else vramscope.merge(results)

    def output(self):
        w, result = self.words, self.result()
        if w.format == "json":
            return result.json(rows=w.shown.get("rows"))
        if w.format == "markdown":
            return result.markdown(**w.shown)
        if w.format != "text":
            return getattr(result, w.format)()
        columns = self.environment.get("COLUMNS", "")
        width = max(20, min(1000, int(columns))) if columns.isdigit() and int(columns) else 80
        locale = next((v for v in map(self.environment.get, ("LC_ALL", "LC_CTYPE", "LANG")) if v), "")
        shown = {"ascii": "utf-8" not in locale.lower(), **w.shown}
        return result.text(width=width, picture=w.verb == "report" and bool(columns) and width >= 60, **shown)
