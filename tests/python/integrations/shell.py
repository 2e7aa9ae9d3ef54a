"""A stand-in for IPython's shell: what the magics call of it, for tests where IPython is not installed."""
import builtins
import sys
import traceback
import types


class Result:
    def __init__(self):
        self.result = self.error_before_exec = self.error_in_exec = None

    @property
    def success(self):
        return self.error_before_exec is None and self.error_in_exec is None


class Shell:
    """Runs cells in user_ns; a value that a cell ends with is printed, and is `_`."""

    def __init__(self):
        self.user_ns = {"__name__": "__main__"}
        self.magics = {"line": {}, "cell": {}}
        self.magics_manager = types.SimpleNamespace(magics=self.magics)

    def register_magic_function(self, func, magic_kind="line", magic_name=None):
        for kind in ("line", "cell"):
            if kind in magic_kind:
                self.magics[kind][magic_name] = func

    def run_cell(self, raw_cell, store_history=False, silent=False):
        done = Result()
        try:
            tree = compile(raw_cell, "<cell>", "exec", flags=0x400)  # PyCF_ONLY_AST
        except SyntaxError as error:
            done.error_before_exec = error
            self.show(error)
            return done
        try:
            last = None
            if tree.body and type(tree.body[-1]).__name__ == "Expr":
                import ast
                last = ast.Expression(tree.body.pop().value)
            exec(compile(tree, "<cell>", "exec"), self.user_ns)
            if last is not None:
                done.result = eval(compile(last, "<cell>", "eval"), self.user_ns)
                self.displayed(done.result)
        except BaseException as error:
            done.error_in_exec = error
            self.show(error)
        return done

    def displayed(self, value):
        if value is not None:
            print(repr(value))
            self.user_ns["_"] = builtins._ = value

    def show(self, error):
        render = getattr(error, "_render_traceback_", None)
        lines = render() if render is not None else traceback.format_exception(error)
        print("".join(lines), end="", file=sys.stderr)

    def magic(self, line, cell=None):
        """As the shell runs %vramscope and %%vramscope: what the magic returns is displayed."""
        call = self.magics["line" if cell is None else "cell"]["vramscope"]
        value = call(line) if cell is None else call(line, cell)
        self.displayed(value)
        return value


def install(monkeypatch, shown):
    """`IPython.display.display` appends (object, page) to `shown`."""
    module, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    display.display = lambda thing: shown.append((thing, thing._repr_html_()))
    core, errors = types.ModuleType("IPython.core"), types.ModuleType("IPython.core.error")
    errors.UsageError = type("UsageError", (Exception,), {})  # a line without a traceback
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython.core", core)
    monkeypatch.setitem(sys.modules, "IPython.core.error", errors)
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    forget(monkeypatch)


def forget(monkeypatch):
    """The module of the magics is imported anew."""
    import vramscope
    monkeypatch.delitem(sys.modules, "vramscope.ipython", raising=False)
    monkeypatch.delattr(vramscope, "ipython", raising=False)
