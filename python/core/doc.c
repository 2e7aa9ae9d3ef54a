/* doc.c - what help() says of the functions and methods; each example is run as a test. */
#include "doc.h"

const char ask_report_doc[] =
    "report($self, /, *, timeline=False, quick=False, trust=False, part=False, rank=None, "
    "one_clock=False, peer_oom_us=None, curve=False, path=None, user_root=None, library=None, "
    "device=None)\n"
    "--\n\n"
    "What the recording is, how far it can be trusted, its peak, who held it and what to\n"
    "do: the answer of `vramscope report`.\n\n"
    "timeline: the document also has how the memory moved. quick: the file, the curves and\n"
    "the peak alone. trust: every check with its outcome. part: one of a set for merge();\n"
    "its rank is as its name has it unless `rank` says so; one_clock: recorded on the same\n"
    "host as the others; peer_oom_us: when another one last ran out of memory, in\n"
    "microseconds; curve: with a small curve, which index() draws.\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> recording = vramscope.load(\"examples/oom.pickle\")\n"
    ">>> recording.report(quick=True)[\"devices\"][0][\"trust\"][\"grade\"]\n"
    "'A'";

const char ask_peak_doc[] =
    "peak($self, /, *, at=None, by=None, key=None, categories=False, path=None, "
    "user_root=None, library=None, device=None)\n"
    "--\n\n"
    "Who held the memory at one moment, in bytes requested: the answer of `vramscope peak`.\n\n"
    "at: an event's number, \"start\", \"end\", \"peak\" (the default), \"oom\", \"oom:k\",\n"
    "\"12.5s\", \"step:k\" or \"phase:NAME\". by: \"culprit\" (the default) or \"line\",\n"
    "which is the same, \"owner\", \"site\", \"file\", \"function\", \"module\", \"category\",\n"
    "\"size\", \"pool\", \"stream\", \"age\", \"name\" or \"path\". key: of sites, \"K0\" to\n"
    "\"K3\". categories: tell the category of each row.\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> result = vramscope.load(\"examples/train.pickle\").peak(by=\"category\", at=\"end\")\n"
    ">>> result[\"devices\"][0][\"result\"][\"by\"]\n"
    "'category'";

const char ask_oom_doc[] =
    "oom($self, /, *, message=None, capacity=None, path=None, user_root=None, library=None, "
    "device=None)\n"
    "--\n\n"
    "Why a request for memory failed, and what would have had to go: the answer of\n"
    "`vramscope oom`. Its verdict is whether one failed.\n\n"
    "message: the text of the error, of any version of PyTorch. capacity: of the card, in\n"
    "bytes or as \"24GiB\".\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> vramscope.load(\"examples/oom.pickle\").oom(capacity=\"24GiB\").verdict\n"
    "True";

const char ask_leaks_doc[] =
    "leaks($self, /, *, capacity=None, path=None, user_root=None, library=None, device=None)\n"
    "--\n\n"
    "What grows from step to step, in bytes a step: the answer of `vramscope leaks`.\n\n"
    "capacity: what the program can have, in bytes or as \"24GiB\"; it says how many steps\n"
    "are left.\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> result = vramscope.load(\"examples/leak.pickle\").leaks()\n"
    ">>> result[\"devices\"][0][\"result\"][\"sites\"][0][\"class\"]\n"
    "'leak'";

const char ask_steps_doc[] =
    "steps($self, /, *, path=None, user_root=None, library=None, device=None)\n"
    "--\n\n"
    "Where steps begin, their phases and the peak of each, in bytes: the answer of\n"
    "`vramscope steps`.\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> result = vramscope.load(\"examples/train.pickle\").steps()\n"
    ">>> result.kind, len(result[\"devices\"])\n"
    "('steps', 1)";

const char ask_fragments_doc[] =
    "fragments($self, /, *, at=None, all_metrics=False, path=None, user_root=None, "
    "library=None, device=None)\n"
    "--\n\n"
    "Reserved bytes that can be neither used nor returned, and what pins them: the answer\n"
    "of `vramscope fragments`.\n\n"
    "at: as of peak(), and \"reserved-peak\"; \"end\" is the default. all_metrics: also\n"
    "those that are often misread.\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> result = vramscope.load(\"examples/fragmentation.pickle\").fragments(at=\"oom\")\n"
    ">>> result[\"devices\"][0][\"status\"]\n"
    "'ok'";

const char ask_categories_doc[] =
    "categories($self, /, *, at=None, rules=None, rules_name=None, path=None, user_root=None, "
    "library=None, device=None)\n"
    "--\n\n"
    "Parameters, gradients, optimizer state, activations and the rest at one moment, in\n"
    "bytes: the answer of `vramscope categories`.\n\n"
    "at: as of peak(). rules: the text of a rule file, asked before the built-in rules;\n"
    "rules_name: what messages call it.\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> result = vramscope.load(\"examples/train.pickle\").categories(at=\"peak\")\n"
    ">>> \"activation\" in str(result)\n"
    "True";

const char ask_advise_doc[] =
    "advise($self, /, *, waste=False, explain_silent=False, capacity=None, path=None, "
    "user_root=None, library=None, device=None)\n"
    "--\n\n"
    "What to change, with the bytes that it frees: the answer of `vramscope advise`.\n\n"
    "waste: also lifetimes, byte-time and churn. explain_silent: the text also says why\n"
    "other rules stay silent. capacity: of the card, in bytes or as \"24GiB\".\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> print(vramscope.load(\"examples/leak.pickle\").advise().kind)\n"
    "advise";

const char ask_check_doc[] =
    "check($self, limits=(), /, *, budget=None, budget_name=None, rules=None, rules_name=None, "
    "baseline=None, strict=False, allow_estimates=False, path=None, user_root=None, "
    "library=None, device=None)\n"
    "--\n\n"
    "Does the recording keep a budget? The answer of `vramscope check`. Its verdict is True\n"
    "where every limit holds, False where one is exceeded, None where one could not be\n"
    "decided.\n\n"
    "limits: a mapping, or pairs, of the command's options without their dashes and their\n"
    "values: {\"max-peak\": \"24GiB\", \"no-oom\": None}; \"_\" may stand for \"-\".\n"
    "budget: more limits, the text of a file with lines of \"name = value\"; budget_name:\n"
    "what messages call it. rules, rules_name: as of categories(). baseline: the recording\n"
    "that limits of growth refer to. strict: undecided is not good enough. allow_estimates:\n"
    "an estimate may fail, too.\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> recording = vramscope.load(\"examples/train.pickle\")\n"
    ">>> recording.check({\"max-peak\": \"80GiB\", \"no-oom\": None}).verdict\n"
    "True\n"
    ">>> recording.check({\"max_peak\": \"1MiB\"}).verdict\n"
    "False";

const char ask_replay_doc[] =
    "replay($self, /, *, set=(), capacity=None, sweep=False, smallest=False, drop=(), "
    "scale=(), free_early=(), anyway=False, keep_run=False, threads=None, path=None, "
    "user_root=None, library=None, device=None)\n"
    "--\n\n"
    "Does the model of the caching allocator reproduce the recording, and what else would\n"
    "have happened? The answer of `vramscope replay`.\n\n"
    "set: settings, as \"expandable_segments:True\", together one question. capacity: what\n"
    "the process can reserve, in bytes or as \"24GiB\". sweep: one question for each\n"
    "setting of a table. smallest: also the least capacity that suffices. drop: sites that\n"
    "allocate nothing, a part of a culprit's name or \"event:N\". scale: \"SITE=FACTOR\" or\n"
    "(site, factor). free_early: \"SITE=SCOPE\" or (site, scope). anyway: answer also where\n"
    "the model does not reproduce the recording. keep_run: keep the run for snapshot().\n"
    "threads: for questions side by side; None: one for each processor, or 1 where the\n"
    "caller is not the main thread.\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> vramscope.load(\"examples/train.pickle\").replay()[\"devices\"][0][\"status\"]\n"
    "'ok'";

const char ask_what_if_doc[] =
    "what_if($self, /, *set, capacity=None, sweep=False, smallest=False, drop=(), scale=(), "
    "free_early=(), anyway=False, keep_run=False, threads=None, path=None, user_root=None, "
    "library=None, device=None)\n"
    "--\n\n"
    "What would have happened with other settings, on another card, or with changed code?\n"
    "It is replay() with a question; without one it raises Error with the status \"usage\".\n\n"
    "set: settings, as \"expandable_segments:True\". capacity: what the process can\n"
    "reserve, in bytes or as \"24GiB\". All else is as of replay().\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> recording = vramscope.load(\"examples/oom.pickle\")\n"
    ">>> result = recording.what_if(\"expandable_segments:True\", capacity=\"80GiB\")\n"
    ">>> result[\"devices\"][0][\"status\"]\n"
    "'ok'";

const char ask_diff_doc[] =
    "diff($self, other, /, *, b_path=None, b_device=None, at=None, to=None, weight=None, "
    "key=None, per=None, by=None, fail_over=None, threads=None, path=None, user_root=None, "
    "library=None, device=None)\n"
    "--\n\n"
    "What changed from this recording to another, or between two moments of it: the answer\n"
    "of `vramscope diff`, in bytes unless `weight` says otherwise.\n\n"
    "other: a Recording, which may be this one. b_path, b_device: its name and its device.\n"
    "at: a moment of both, as of peak(); to: another one of `other`. weight: \"live\" (the\n"
    "default), \"alloc_bytes\", \"allocs\" or \"byte_events\". key: where matching of\n"
    "stacks begins, \"K0\" to \"K2\". per: \"step\" or \"parameter_byte\", what figures are\n"
    "divided by. by: \"stack\" (the default), \"line\" or \"culprit\", \"owner\" or\n"
    "\"category\".\n"
    "fail_over: bytes, a size, or a share as \"5%\"; the verdict is False where the total\n"
    "grew by more. threads: as of replay().\n\n"
    "path: shown as the file's name. user_root: frames under this folder are the user's\n"
    "own. library: frames whose path matches this glob are not. device: a number or\n"
    "\"cuda:N\"; None: all. The result is a Result; raises Error, TypeError for arguments\n"
    "of the wrong type, ValueError where the recording is closed.\n\n"
    ">>> a, b = (vramscope.load(\"examples/%s.pickle\" % name) for name in (\"train\", "
    "\"leak\"))\n"
    ">>> b.diff(a, by=\"category\", fail_over=\"5%\").verdict\n"
    "False";

const char write_view_doc[] =
    "view($self, path=None, /, *, editor=None, editor_path=None, most_bytes=None, start=None, "
    "end=None, may_be_larger=False, user_root=None, library=None, device=None)\n"
    "--\n\n"
    "The recording as one HTML page that needs nothing else: `vramscope view`.\n\n"
    "path: of the file, which appears when it is whole; the result is the path. Without it\n"
    "the result is bytes. editor: what frames open in, as \"vscode\"; editor_path:\n"
    "\"FROM=TO\" for the beginning of their paths. most_bytes: the page is cut down to so\n"
    "many, in bytes or as \"64MiB\"; None: it has all. start, end: the first and the last\n"
    "moment it has, as of peak(). may_be_larger: than most_bytes, where no page is so\n"
    "small.\n\n"
    "user_root, library, device: as of report(). The core's notes come as VramscopeNote, a\n"
    "warning. Raises Error, with the status \"usage\" where the file would replace the\n"
    "recording.\n\n"
    ">>> page = vramscope.load(\"examples/leak.pickle\").view()\n"
    ">>> page[:15]\n"
    "b'<!doctype html>'";

const char write_picture_doc[] =
    "picture($self, path=None, /, *, format=\"svg\", view=None, by=None, at=None, start=None, "
    "end=None, width=None, height=None, dark=False, detail=False, capacity=None, "
    "user_root=None, library=None, device=None)\n"
    "--\n\n"
    "The recording as one picture: `vramscope view --svg` or `--png`.\n\n"
    "path: of the file, which appears when it is whole; the result is the path. Without it\n"
    "the result is bytes. format: \"svg\" or \"png\". view: \"groups\" (the default),\n"
    "\"stack\" or \"map\". by: \"category\" (the default), \"site\", \"owner\", \"module\",\n"
    "\"phase\", \"pool\", \"stream\", \"size\" or \"age\". at: the moment that the legend\n"
    "is of; start, end: the first and the last that are shown, as of peak(). width, height:\n"
    "pixels. dark: light on dark. detail: of an SVG of groups, every allocation. capacity:\n"
    "of a card, in bytes or as \"24GiB\", drawn as a line.\n\n"
    "user_root, library, device: as of report(). The core's notes come as VramscopeNote, a\n"
    "warning. Raises Error, with the status \"usage\" where the file would replace the\n"
    "recording.\n\n"
    ">>> vramscope.load(\"examples/leak.pickle\").picture(width=400, height=200)[:4]\n"
    "b'<svg'";

const char write_export_doc[] =
    "export($self, to, path=None, /, *, table=(), at=None, weight=None, inverse=False, "
    "rules=None, rules_name=None, user_root=None, library=None, device=None)\n"
    "--\n\n"
    "The recording in the format of another tool: `vramscope export`.\n\n"
    "to: \"csv\", \"json\", \"folded\", \"speedscope\", \"pprof\", \"sqlite\" or\n"
    "\"perfetto\". path: of the file, which appears when it is whole; the result is the\n"
    "path. Without it the result is bytes; sqlite needs it. table: of csv one and of json\n"
    "any of \"devices\", \"allocations\" (the default), \"events\", \"curves\",\n"
    "\"segments\", \"blocks\", \"sites\", \"stacks\", \"frames\", \"marks\", \"settings\";\n"
    "or \"all\". at: of folded, speedscope and pprof, as of peak(). weight: of folded,\n"
    "\"bytes\" or \"count\"; inverse: the innermost frame first. rules, rules_name: as of\n"
    "categories().\n\n"
    "user_root, library, device: as of report(). The core's notes come as VramscopeNote, a\n"
    "warning. Raises Error, with the status \"usage\" where the file would replace the\n"
    "recording.\n\n"
    ">>> rows = vramscope.load(\"examples/leak.pickle\").export(\"csv\", "
    "table=\"marks\").splitlines()\n"
    ">>> b\"device\" in rows[0]\n"
    "True";

const char core_open_doc[] =
    "open(source, *, limits=None, progress=None, replay=\"auto\", threads=None)\n"
    "--\n\n"
    "Opens what may be several recordings, as an HTML page is; the result is a File.\n\n"
    "source: a path, \"-\" for standard input; bytes or another buffer that has the\n"
    "snapshot; or an object with readinto or read, which is called on this thread. limits:\n"
    "a mapping with the names of `--limit`. progress: called with (done_bytes, total_bytes)\n"
    "at most ten times a second, total 0 where it is not known; True: the line of the\n"
    "command, where stderr is a terminal. replay: \"auto\", \"always\" or \"never\",\n"
    "whether columns of block_sizes are made. threads: None: one for each processor, or 1\n"
    "where the caller is not the main thread.\n\n"
    "Ctrl-C ends the reading. Raises Error; an exception of progress or of the object\n"
    "passes as it is.\n\n"
    ">>> with vramscope.open(\"examples/oom.pickle\") as file:\n"
    "...     len(file), file.names\n"
    "(1, [''])";

const char core_load_doc[] =
    "load(source, *, entry=None, limits=None, progress=None, replay=\"auto\", threads=None)\n"
    "--\n\n"
    "Opens a snapshot that is one recording; of a page of several, the `entry` by number or\n"
    "name; or a trace of torch.profiler, told by its bytes, which is then a Trace.\n\n"
    "All other arguments are those of open(); replay means nothing to a trace. Raises Error,\n"
    "with the status \"usage\" where there are several recordings and no entry says which,\n"
    "and IndexError where there is none of that number.\n\n"
    ">>> with vramscope.load(\"examples/oom.pickle\") as recording:\n"
    "...     recording.oom().verdict\n"
    "True\n"
    ">>> vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    "<vramscope.Trace of 'examples/traces/training.pt.trace.json.gz'>";

const char core_view_doc[] =
    "view(recordings, path=None, /, *, editor=None, editor_path=None, most_bytes=None, "
    "start=None, end=None, may_be_larger=False, user_root=None, library=None, device=None)\n"
    "--\n\n"
    "Recordings as one HTML page that needs nothing else: `vramscope view`.\n\n"
    "recordings: one, or several in an iterable. All else is as of Recording.view(): with a\n"
    "path the result is the path, without one it is bytes. Raises Error.\n\n"
    ">>> both = [vramscope.load(\"examples/%s.pickle\" % name) for name in (\"train\", "
    "\"leak\")]\n"
    ">>> page = vramscope.view(both)\n"
    ">>> b\"train.pickle\" in page and b\"leak.pickle\" in page\n"
    "True";

const char core_merge_doc[] =
    "merge(results, /)\n"
    "--\n\n"
    "Joins results of one kind into the answer for several files, as the command gives for\n"
    "several.\n\n"
    "results: an iterable; they are of no use afterwards. Raises Error, ValueError for one\n"
    "that was merged before.\n\n"
    ">>> parts = [vramscope.load(\"examples/%s.pickle\" % name).report(part=True, rank=rank)\n"
    "...          for rank, name in enumerate((\"train\", \"leak\"))]\n"
    ">>> len(vramscope.merge(parts)[\"files\"])\n"
    "2";

const char core_unread_doc[] =
    "unread(path, error, kind=\"report\")\n"
    "--\n\n"
    "The result that stands among others for a file that could not be read, so that merge()\n"
    "forgets none.\n\n"
    "path: of the file. error: the Error that it failed with, or its text. kind: \"report\"\n"
    "or \"check\". Raises Error.\n\n"
    ">>> result = vramscope.unread(\"rank3.pickle\", \"no such file\")\n"
    ">>> \"rank3.pickle\" in result.json()\n"
    "True";

const char core_report_run_doc[] =
    "report_run(path, /)\n"
    "--\n\n"
    "The result that stands among reports for the job whose folder `vramscope run` wrote, so\n"
    "that merge() names the ranks without a file: `missing_ranks`.\n\n"
    "path: of its run.json. Raises Error.\n\n"
    ">>> import tempfile\n"
    ">>> with tempfile.NamedTemporaryFile(\"w\") as file:\n"
    "...     print('{\"world_size\": 2, \"missing_ranks\": [1]}', file=file, flush=True)\n"
    "...     result = vramscope.report_run(file.name)\n"
    ">>> report = vramscope.load(\"examples/train.pickle\").report(part=True, rank=0)\n"
    ">>> vramscope.merge([report, result])[\"missing_ranks\"]\n"
    "[1]";

const char core_index_doc[] =
    "index(result, path, files)\n"
    "--\n\n"
    "Merged reports as one HTML page that needs nothing else: a row for each rank or\n"
    "device, and what failed.\n\n"
    "result: of merge(). path: of the file, which appears when it is whole; the result is\n"
    "the path. None: the result is bytes. files: for each its path as the reports have it,\n"
    "or (path, href, failure): the address of its page relative to this one, and why it\n"
    "could not be read; each may be None. Raises Error.\n\n"
    ">>> name = \"examples/train.pickle\"\n"
    ">>> reports = vramscope.merge([vramscope.load(name).report(part=True, curve=True)])\n"
    ">>> b\"href\" in vramscope.index(reports, None, [(name, \"train.html\")])\n"
    "True";

const char core_size_doc[] =
    "size(text, /)\n"
    "--\n\n"
    "The bytes of a size: \"4096\", \"512MiB\", \"24GB\", \"1.5 GiB\". Raises Error where\n"
    "the text is none.\n\n"
    ">>> vramscope.size(\"1.5 GiB\")\n"
    "1610612736";

const char core_is_own_doc[] =
    "is_own(path, /)\n"
    "--\n\n"
    "Whether a file is a page, a picture or an answer in JSON that vramscope wrote, by a mark\n"
    "near its beginning.\n\n"
    "path: of the file; one that cannot be read is none.\n\n"
    ">>> vramscope.is_own(\"examples/oom.pickle\")\n"
    "False";

const char core_export_ready_doc[] =
    "export_ready(to, /)\n"
    "--\n\n"
    "Returns None where Recording.export() can write a format on this machine.\n\n"
    "to: as of Recording.export(). Raises Error with the status \"unsupported\" where a\n"
    "library is missing, as of \"sqlite\", and \"usage\" where there is no such format.\n\n"
    ">>> vramscope.export_ready(\"csv\")";

const char core_category_rules_doc[] =
    "category_rules()\n"
    "--\n\n"
    "The built-in rules of categories, as the text of a rule file.\n\n"
    ">>> \"optimizer_state\" in vramscope.category_rules()\n"
    "True";

const char core_version_doc[] = "version()\n"
                                "--\n\n"
                                "The version of the library, \"MAJOR.MINOR.PATCH\".\n\n"
                                ">>> vramscope.version() == vramscope.__version__\n"
                                "True";

const char result_text_doc[] =
    "text($self, /, *, width=None, colour=False, ascii=None, rows=None, stacks=False, "
    "picture=False, all_frames=False, all_ranks=False)\n"
    "--\n\n"
    "What the command prints.\n\n"
    "width: columns; None: of the terminal, else 80. colour: with the escapes of a\n"
    "terminal. ascii: no character outside ASCII in pictures; None: as the standard\n"
    "output's encoding needs it. rows: of a table; None: as many as suit. stacks: under the\n"
    "rows. picture: the timeline as an area. all_frames: stacks with the frames of the\n"
    "interpreter and of libraries. all_ranks: a page for each of many devices, not of the\n"
    "worst alone. Raises Error.\n\n"
    ">>> result = vramscope.load(\"examples/oom.pickle\").oom()\n"
    ">>> result.text(width=80) == result.text(width=80, rows=0)\n"
    "True";

const char result_json_doc[] =
    "json($self, /, rows=None)\n"
    "--\n\n"
    "The JSON document, byte for byte as `--json` prints it.\n\n"
    "rows: of a table; None: all. Raises Error.\n\n"
    ">>> vramscope.load(\"examples/oom.pickle\").oom().json().startswith(\"{\")\n"
    "True";

const char result_csv_doc[] =
    "csv($self, /)\n"
    "--\n\n"
    "The rows of the answer's table, as `--csv` prints them. Raises Error where it has\n"
    "none.\n\n"
    ">>> vramscope.load(\"examples/leak.pickle\").leaks().csv().startswith(\"file.path,\")\n"
    "True";

const char result_markdown_doc[] =
    "markdown($self, /, *, rows=None, ascii=False)\n"
    "--\n\n"
    "A summary for a pull request.\n\n"
    "rows: of its table; None: as many as suit. ascii: no character outside ASCII in\n"
    "pictures. Raises Error where the answer has none: reports and checks do.\n\n"
    ">>> vramscope.load(\"examples/leak.pickle\").report().markdown().startswith(\"#\")\n"
    "True";

const char result_junit_doc[] =
    "junit($self, /)\n"
    "--\n\n"
    "JUnit XML, of check() alone. Raises Error.\n\n"
    ">>> result = vramscope.load(\"examples/leak.pickle\").check({\"max-peak\": \"1GiB\"})\n"
    ">>> \"<testsuite\" in result.junit()\n"
    "True";

const char result_sarif_doc[] =
    "sarif($self, /)\n"
    "--\n\n"
    "SARIF 2.1.0 for code scanning, of check() alone. Raises Error.\n\n"
    ">>> result = vramscope.load(\"examples/leak.pickle\").check({\"max-peak\": \"1GiB\"})\n"
    ">>> '\"2.1.0\"' in result.sarif()\n"
    "True";

const char result_snapshot_doc[] =
    "snapshot($self, path=None, /)\n"
    "--\n\n"
    "The changed run of replay(keep_run=True) as a snapshot, a pickle as PyTorch writes it.\n\n"
    "path: of the file, which appears when it is whole; the result is the path. Without it\n"
    "the result is bytes. Raises Error where no run was kept.\n\n"
    ">>> run = "
    "vramscope.load(\"examples/train.pickle\").replay(set=[\"roundup_power2_divisions:4\"],\n"
    "...                                                      keep_run=True)\n"
    ">>> vramscope.load(run.snapshot()).replay()[\"devices\"][0][\"status\"]\n"
    "'ok'";

const char result_table_doc[] =
    "table($self, name, /)\n"
    "--\n\n"
    "The rows of a list of the document as columns, without a copy: a dict of them by name.\n\n"
    "name: one of `tables`; the rows of all files and devices stand behind each other. The\n"
    "values are in the units of the names, None where one is not known. Raises KeyError\n"
    "where there is no such list.\n\n"
    ">>> sites = "
    "vramscope.load(\"examples/leak.pickle\").leaks().table(\"devices.result.sites\")\n"
    ">>> sites[\"class\"][0], sites[\"slope_bytes\"][0]\n"
    "('leak', 262144000)";

const char result_to_pandas_doc[] =
    "to_pandas($self, name, /)\n"
    "--\n\n"
    "A table as a pandas.DataFrame, which needs pandas; columns with values that are not\n"
    "known have a nullable type.\n\n"
    "name: one of `tables`. Raises KeyError, and ImportError where pandas is missing.\n\n"
    ">>> result = vramscope.load(\"examples/leak.pickle\").leaks()\n"
    ">>> frame = result.to_pandas(\"devices.result.sites\")  # doctest: +SKIP";

const char result_to_dict_doc[] = "to_dict($self, /)\n"
                                  "--\n\n"
                                  "The document as a dict of the caller's own, parsed anew.\n\n"
                                  ">>> result = vramscope.load(\"examples/leak.pickle\").leaks()\n"
                                  ">>> result.to_dict() == result\n"
                                  "True";

const char result_keys_doc[] =
    "keys($self, /)\n"
    "--\n\n"
    "The members of the document.\n\n"
    ">>> \"devices\" in vramscope.load(\"examples/leak.pickle\").leaks().keys()\n"
    "True";

const char result_values_doc[] = "values($self, /)\n"
                                 "--\n\n"
                                 "The values of the document's members.\n\n"
                                 ">>> result = vramscope.load(\"examples/leak.pickle\").leaks()\n"
                                 ">>> len(result.values()) == len(result)\n"
                                 "True";

const char result_items_doc[] = "items($self, /)\n"
                                "--\n\n"
                                "The document's members with their values.\n\n"
                                ">>> result = vramscope.load(\"examples/leak.pickle\").leaks()\n"
                                ">>> dict(result.items()) == result\n"
                                "True";

const char result_get_doc[] =
    "get($self, key, default=None, /)\n"
    "--\n\n"
    "A member of the document, or the default where there is none.\n\n"
    ">>> vramscope.load(\"examples/leak.pickle\").leaks().get(\"no such member\", 1)\n"
    "1";

const char recording_table_doc[] =
    "table($self, name, /)\n"
    "--\n\n"
    "The columns of one table, as a dict by their names.\n\n"
    "name: of the table, as \"events\". Raises KeyError where there is no such table.\n\n"
    ">>> vramscope.load(\"examples/leak.pickle\").table(\"events\")[\"size\"].dtype\n"
    "'uint64'";

const char recording_string_doc[] =
    "string($self, id, /)\n"
    "--\n\n"
    "A string of the file.\n\n"
    "id: its row in \"strings\", as columns of other tables have it. Bytes that are no\n"
    "UTF-8 come as surrogates. Raises IndexError where there is no such row.\n\n"
    ">>> vramscope.load(\"examples/leak.pickle\").string(0)\n"
    "''";

const char recording_keys_doc[] =
    "keys($self, /)\n"
    "--\n\n"
    "The names of all columns.\n\n"
    ">>> \"events.size\" in vramscope.load(\"examples/leak.pickle\").keys()\n"
    "True";

const char recording_values_doc[] =
    "values($self, /)\n"
    "--\n\n"
    "All columns, each made when it is come to. Raises Error.\n\n"
    ">>> recording = vramscope.load(\"examples/leak.pickle\")\n"
    ">>> [column.name for column in recording.values()] == recording.columns\n"
    "True";

const char recording_items_doc[] =
    "items($self, /)\n"
    "--\n\n"
    "The names of all columns, each with its column, made when it is come to. Raises Error.\n\n"
    ">>> recording = vramscope.load(\"examples/leak.pickle\")\n"
    ">>> all(name == column.name for name, column in recording.items())\n"
    "True";

const char recording_get_doc[] =
    "get($self, name, default=None, /)\n"
    "--\n\n"
    "A column by its name, or the default where there is none. Raises Error.\n\n"
    ">>> vramscope.load(\"examples/leak.pickle\").get(\"no.column\", 0)\n"
    "0";

const char recording_close_doc[] = "close($self, /)\n"
                                   "--\n\n"
                                   "Closes the file of the recording: see File.close().\n\n"
                                   ">>> recording = vramscope.load(\"examples/leak.pickle\")\n"
                                   ">>> recording.close()\n"
                                   ">>> recording.peak()\n"
                                   "Traceback (most recent call last):\n"
                                   "ValueError: closed";

const char file_close_doc[] =
    "close($self, /)\n"
    "--\n\n"
    "Ends the use of the file and its recordings. Columns and their views stay as they are;\n"
    "the last of them gives the memory back. It raises nothing, also where the file is\n"
    "closed already.\n\n"
    ">>> file = vramscope.open(\"examples/leak.pickle\")\n"
    ">>> sizes = file[0][\"events.size\"]\n"
    ">>> file.close()\n"
    ">>> len(sizes) > 0\n"
    "True";

const char trace_report_doc[] =
    "report($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "Where the time went: how busy the devices were and why they waited, steps, operators,\n"
    "kernels, copies, calls and memory, in nanoseconds and bytes: the answer of\n"
    "`vramscope trace`.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> report = vramscope.load(\"examples/traces/training.pt.trace.json.gz\").report()\n"
    ">>> report.kind, len(report[\"steps\"])\n"
    "('trace', 4)";

const char trace_ops_doc[] =
    "ops($self, /, *, as_framework=False, by=None, path=None)\n"
    "--\n\n"
    "The same answer, whose text is the table of operators, as key_averages() has them;\n"
    "table(\"ops\") has its columns.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. by: \"shapes\", \"module\", \"phase\",\n"
    "\"step\", \"stack\" or \"stack:3\", several with a comma between: table(\"ops_by\") then has a\n"
    "row for each name and these, and the text shows it. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> ops = vramscope.load(\"examples/traces/training.pt.trace.json.gz\").ops()\n"
    ">>> \"aten::addmm\" in str(ops), max(ops.table(\"ops\")[\"calls\"]) > 10\n"
    "(True, True)\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> {\"forward\", \"backward\"} <= {row[\"phase\"] for row in trace.ops(by=\"phase\")[\"ops_by\"]}\n"
    "True";

const char trace_kernels_doc[] =
    "kernels($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text is the table of what ran on devices, and of copies;\n"
    "table(\"kernels\") and table(\"copies\") have their columns.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> len(vramscope.load(\"examples/traces/training.pt.trace.json.gz\").kernels().table(\"kernels\")[\"ns\"])  # made on a host alone\n"
    "0";

const char trace_gaps_doc[] =
    "gaps($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text is why devices waited, and the longest gaps;\n"
    "table(\"devices.gaps.classes\") has the classes.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> vramscope.load(\"examples/traces/training.pt.trace.json.gz\").gaps()[\"devices\"]  # made on a host alone\n"
    "[]";

const char trace_steps_doc[] =
    "steps($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text is the table of the steps of the training loop;\n"
    "table(\"steps\") has its columns.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> steps = vramscope.load(\"examples/traces/training.pt.trace.json.gz\").steps().table(\"steps\")\n"
    ">>> min(steps[\"ns\"]) > 0\n"
    "True";

const char trace_memory_doc[] =
    "memory($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text is what the allocators had in use;\n"
    "table(\"memory\") has the peak of each device in bytes.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> min(vramscope.load(\"examples/traces/training.pt.trace.json.gz\").memory().table(\"memory\")[\"peak_bytes\"]) > 0\n"
    "True";

const char trace_calls_doc[] =
    "calls($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text is the table of calls of the runtime and the driver;\n"
    "table(\"runtime\") has its columns.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> vramscope.load(\"examples/traces/training.pt.trace.json.gz\").calls()[\"runtime\"]  # made on a host alone\n"
    "[]";

const char trace_phases_doc[] =
    "phases($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text is the time of data, forward, backward and optimizer;\n"
    "table(\"phases\") has its columns.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> trace.phases().table(\"phases\")[\"phase\"][0]\n"
    "'data'";

const char trace_launches_doc[] =
    "launches($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text is how launches ran ahead of devices;\n"
    "its member \"launches\" has the figures.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> trace.launches()[\"launches\"][\"calls\"]\n"
    "0";

const char trace_method_doc[] =
    "method($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text goes through the method of four phases as `vramscope diagnose`\n"
    "does: the baseline, the kind of bottleneck, the component, the operation; then what to\n"
    "change, and how to prove it.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> trace.method()[\"bottleneck\"][\"kind\"]\n"
    "'data'";

const char trace_findings_doc[] =
    "findings($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text is what to change, what that gains at most, and why rules\n"
    "are silent; table(\"findings\") and table(\"silent\") have their columns.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> {\"GPU-LOW\", \"DATA-1\"} <= {row[\"id\"] for name in (\"findings\", \"silent\") for row in trace.findings()[name]}\n"
    "True";

const char trace_modules_doc[] =
    "modules($self, /, *, as_framework=False, path=None)\n"
    "--\n\n"
    "The same answer, whose text is what each module took, forward and backward;\n"
    "table(\"modules\") has its columns. Traces with stacks have modules.\n\n"
    "as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> trace.modules()[\"modules\"]  # recorded without stacks\n"
    "[]";

const char trace_tree_doc[] =
    "tree($self, /, *, as_framework=False, min_share=None, path=None)\n"
    "--\n\n"
    "The same answer, whose text is the call tree: who called what, and what it cost.\n\n"
    "min_share: paths with less of the time of hosts and of devices are left out, as \"0.5%\"\n"
    "or \"0.005\"; None: 1 %. "
"as_framework: with Python frames in the trace, count ranges as key_averages() does,\n"
    "without the operators that a frame inside called. path: shown as the file's name. The\n"
    "result is a Result; raises Error, TypeError for arguments of the wrong type,\n"
    "ValueError where the trace is closed.\n\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> \"aten::addmm\" in str(trace.tree(min_share=\"0\"))\n"
    "True";

const char trace_table_doc[] =
    "table($self, name, /)\n"
    "--\n\n"
    "The columns of one table, as a dict by their names.\n\n"
    "name: of the table, as \"spans\". Raises KeyError where there is no such table.\n\n"
    ">>> vramscope.load(\"examples/traces/training.pt.trace.json.gz\").table(\"spans\")[\"start\"].dtype\n"
    "'int64'";

const char trace_string_doc[] =
    "string($self, id, /)\n"
    "--\n\n"
    "A string of the trace.\n\n"
    "id: as the columns \"spans.name\", \"spans.category\" and others have it. Raises\n"
    "IndexError where there is no such string.\n\n"
    ">>> vramscope.load(\"examples/traces/training.pt.trace.json.gz\").string(0)\n"
    "''";

const char trace_keys_doc[] =
    "keys($self, /)\n"
    "--\n\n"
    "The names of all columns.\n\n"
    ">>> \"spans.start\" in vramscope.load(\"examples/traces/training.pt.trace.json.gz\").keys()\n"
    "True";

const char trace_values_doc[] =
    "values($self, /)\n"
    "--\n\n"
    "All columns, each made when it is come to.\n\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> [column.name for column in trace.values()] == trace.columns\n"
    "True";

const char trace_items_doc[] =
    "items($self, /)\n"
    "--\n\n"
    "The names of all columns, each with its column, made when it is come to.\n\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> all(name == column.name for name, column in trace.items())\n"
    "True";

const char trace_get_doc[] =
    "get($self, name, default=None, /)\n"
    "--\n\n"
    "A column by its name, or the default where there is none.\n\n"
    ">>> vramscope.load(\"examples/traces/training.pt.trace.json.gz\").get(\"no.column\", 0)\n"
    "0";

const char trace_close_doc[] =
    "close($self, /)\n"
    "--\n\n"
    "Ends the use of the trace. Columns and their views stay as they are; the last of them\n"
    "gives the memory back. It raises nothing, also where the trace is closed already.\n\n"
    ">>> trace = vramscope.load(\"examples/traces/training.pt.trace.json.gz\")\n"
    ">>> starts = trace[\"spans.start\"]\n"
    ">>> trace.close()\n"
    ">>> len(starts) > 0\n"
    "True";
