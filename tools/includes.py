"""Which includes of a tree are missing, and which are not needed.

A file includes the headers whose names it uses: those of the project that declare them, and those
of the standard that STANDARD lists.  X.c may rely on what X.h includes itself.  A name counts only
where its header is reached already, so that a local name that another header happens to declare is
none; a struct that is only pointed to needs no more than `struct name;`.
"""

import re
from pathlib import PurePosixPath

from c_names import Names

# Headers that stand for others: the public ones for all they include, and these.
STAND_FOR = {
    "src/base/fail.h": ["include/vramscope/error.h"],
    "src/model/code.h": [f"src/model/{name}.h" for name in ("ids", "strings", "frames", "stacks")],
}

# Which names a standard header has, as far as programs of this kind use them: words and
# expressions, `struct:` before a tag.  Of several headers that have a name any will do; the first
# is named.
STANDARD = {
    "stddef.h": "size_t ptrdiff_t max_align_t NULL offsetof",
    "stdint.h": r"u?int(_least|_fast)?\d+_t u?int(ptr|max)_t U?INT(_LEAST|_FAST)?\d+_(MAX|MIN)"
                r" U?INT\d+_C U?INT(MAX|PTR)_(MAX|MIN|C) SIZE_MAX PTRDIFF_(MAX|MIN)",
    "stdbool.h": "bool true false",
    "stdarg.h": "va_list va_start va_end va_arg va_copy",
    "stdalign.h": "alignof alignas",
    "assert.h": "assert static_assert",
    "limits.h": r"CHAR_BIT U?(CHAR|SHRT|INT|LONG|LLONG)_(MAX|MIN) (PATH|NAME|SSIZE|IOV)_MAX",
    "float.h": r"(FLT|DBL|LDBL)_\w+",
    "inttypes.h": r"(PRI|SCN)[diouxX]\w+ strto[iu]max u?int(_least|_fast)?\d+_t u?int(ptr|max)_t"
                  r" U?INT(_LEAST|_FAST)?\d+_(MAX|MIN) U?INT\d+_C SIZE_MAX",
    "math.h": "isfinite isnan isinf signbit NAN INFINITY HUGE_VAL M_PI fabs floor ceil round lround"
              " llround trunc sqrt cbrt pow exp exp2 log log2 log10 fmin fmax fmod ldexp frexp modf"
              " hypot nextafter sin cos tan atan2",
    "string.h": "memcpy memmove memset memcmp memchr memrchr memmem strlen strnlen strcmp strncmp"
                " strchr strrchr strstr strcasestr strdup strndup strspn strcspn strpbrk strncat"
                " strtok_r strsep strcoll strerror strerror_r strsignal size_t NULL",
    "strings.h": "strcasecmp strncasecmp ffs",
    "stdlib.h": r"malloc calloc realloc free aligned_alloc posix_memalign abort exit _Exit atexit"
                r" getenv secure_getenv setenv unsetenv putenv qsort bsearch"
                r" strto(l|ul|ll|ull|d|f|ld) realpath mkstemps? mkdtemp system abs labs llabs rand"
                r" srand random"
                r" EXIT_SUCCESS EXIT_FAILURE size_t NULL",
    "stdio.h": r"FILE stdin stdout stderr EOF SEEK_(SET|CUR|END) BUFSIZ v?(f|s|sn|as|d)?printf"
               r" [fs]?scanf fopen fdopen freopen fmemopen open_memstream fclose fread fwrite"
               r" fflush ferror feof clearerr fgets fputs fgetc fputc getc putc getchar putchar puts"
               r" ungetc fseeko? ftello? rewind fileno setvbuf perror remove rename tmpfile getline"
               r" getdelim popen pclose size_t NULL",
    "errno.h": r"errno E[A-Z0-9]{2,14}",
    "ctype.h": r"is(alnum|alpha|digit|space|upper|lower|print|punct|xdigit|cntrl|graph)"
               r" to(upper|lower)",
    "time.h": r"time_t clock_t clockid_t struct:(tm|timespec) time clock clock_(gettime|nanosleep)"
              r" nanosleep CLOCK_\w+ gmtime_r localtime_r strftime mktime timegm difftime"
              r" size_t NULL",
    "signal.h": r"SIG[A-Z0-9]+ SIG_\w+ SA_\w+ signal raise kill struct:sigaction sigaction sigset_t"
                r" sig(fill|empty|add|del)set sigprocmask pthread_sigmask sigwait sig_atomic_t"
                r" siginfo_t",
    "setjmp.h": "jmp_buf setjmp longjmp sigsetjmp siglongjmp",
    "locale.h": r"setlocale localeconv newlocale uselocale freelocale LC_\w+ struct:lconv NULL",
    "fcntl.h": r"open openat creat fcntl O_\w+ [FR]_\w+LK\w* F_\w+ FD_CLOEXEC AT_\w+ posix_fadvise"
               r" POSIX_FADV_\w+",
    "unistd.h": r"read write pread pwrite close lseek dup2? pipe fork exec[vl]\w* _exit syscall unlink"
                r" rmdir access isatty sysconf _SC_\w+ getpid getppid getuid geteuid f?truncate readlink"
                r" fsync link symlink chdir getcwd gethostname getopt optarg optind u?sleep alarm"
                r" pause close_range environ STD\w+_FILENO [RWXF]_OK ssize_t off_t pid_t NULL"
                r" size_t",
    "sys/types.h": "ssize_t off_t pid_t mode_t uid_t gid_t size_t",
    "sys/stat.h": r"struct:stat stat [fl]stat fstatat f?chmod mkdir mkfifo umask S_I\w+ mode_t",
    "sys/mman.h": r"mmap munmap madvise mprotect mremap PROT_\w+ MAP_\w+ MADV_\w+",
    "sys/ioctl.h": r"ioctl struct:winsize TIOC\w+ FIO\w+",
    "sys/resource.h": r"getrusage [gs]etrlimit struct:r(usage|limit) R(USAGE|LIMIT)_\w+",
    "sys/random.h": r"getrandom GRND_\w+",
    "sys/wait.h": r"wait waitpid W(IF|EXIT|TERM|STOP)\w+ WNOHANG",
    "sys/socket.h": r"socket bind listen accept4? connect send recv [gs]etsockopt shutdown"
                    r" get(sock|peer)name struct:sockaddr(_storage)? socklen_t [AP]F_\w+ SOCK_\w+"
                    r" SOL_\w+ SO_\w+ SHUT_\w+",
    "netinet/in.h": r"struct:sockaddr_in6? struct:in6?_addr IN6?ADDR_\w+ IPPROTO_\w+ in_addr_t"
                    r" in_port_t in6addr_\w+ hton[sl] ntoh[sl]",
    "arpa/inet.h": r"inet_\w+ INET6?_ADDRSTRLEN hton[sl] ntoh[sl]",
    "dirent.h": "DIR opendir fdopendir readdir closedir struct:dirent",
    "dlfcn.h": r"dlopen dlsym dlclose dlerror RTLD_\w+",
    "poll.h": r"poll struct:pollfd POLL[A-Z]+ nfds_t",
    "pthread.h": r"pthread_(?!sigmask)\w+ PTHREAD_\w+",
    "sched.h": r"sched_\w+ cpu_set_t CPU_\w+",
    "stdatomic.h": r"atomic_\w+ memory_order\w* ATOMIC_\w+",
    "regex.h": r"regex_t regmatch_t reg(comp|exec|free|error) REG_\w+",
    "fnmatch.h": r"fnmatch FNM_\w+",
    "cmocka.h": r"cmocka_\w+ assert_\w+ fail fail_msg skip print_(message|error) will_return mock"
                r" struct:CMUnitTest",
    "zlib.h": r"z_stream\w* Z_\w+ (in|de)flate\w* crc32\w* adler32\w* compress(2|Bound)?"
              r" uncompress2? Bytef? uInt uLongf? voidpf? alloc_func free_func gz[a-z]+ gzFile",
    "zstd.h": r"ZSTD_(?!error_|ErrorCode|getErrorCode|getErrorString)\w+",
    "zstd_errors.h": r"ZSTD_(error_\w+|ErrorCode|getErrorCode|getErrorString)",
    "sqlite3.h": r"sqlite3\w* SQLITE_\w+",
    "microhttpd.h": r"MHD_\w+ struct:MHD_\w+",
    "xxhash.h": r"XXH\w+",
    "pcre2.h": r"pcre2_\w+ PCRE2_\w+",
}
_HAS = {header: re.compile("|".join(f"(?:{word})" for word in words.split()))
        for header, words in STANDARD.items()}
# cmocka.h wants these before it.
BEFORE_CMOCKA = {"setjmp.h", "stdarg.h", "stddef.h", "stdint.h"}


def has(header, name):
    return _HAS[header].fullmatch(name) is not None


class Tree:
    """The C files of a tree by their paths, and which header declares what."""

    def __init__(self, sources, may_include=lambda path, header: True):
        headers = {path: Names(text) for path, text in sources.items() if path.endswith(".h")}
        typedefs = frozenset(name for names in headers.values() for name in names.types)
        self.files = {path: Names(text, typedefs) for path, text in sources.items()}
        self._may_include = may_include
        self._by_end = {}
        self._reached = {}
        self.homes = {}  # of each name the headers that declare it
        for path, names in self.files.items():
            self._by_end.setdefault(PurePosixPath(path).name, []).append(path)
            for name in names.declares if path.endswith(".h") else ():
                self.homes.setdefault(name, []).append(path)
        self._find_opaque_structs()
        self._direct = {path: self._resolved(path) for path in self.files}
        self._public = [path for path in self.files if path.startswith("include/")]

    def _find_opaque_structs(self):
        """Of a struct that no header defines X.h is the home where X.c defines it, else any."""
        said = {}
        for path, names in self.files.items():
            for tag in names.forwards if path.endswith(".h") else ():
                if tag not in self.homes:
                    said.setdefault(tag, []).append(path)
        for tag, paths in said.items():
            bodies = [path for path in paths if path[:-1] + "c" in self.files
                      and tag in self.files[path[:-1] + "c"].declares]
            self.homes[tag] = bodies or paths
            for path in self.homes[tag]:
                self.files[path].declares.add(tag)

    def _find(self, path, header):
        """The file that `path` means by a header's name, or None."""
        beside = (PurePosixPath(path).parent / header).as_posix()
        layer = path.split("/")[0]
        for place in (beside, f"src/{header}", f"include/{header}", f"{layer}/{header}"):
            if place in self.files:
                return place
        ends = [one for one in self._by_end.get(PurePosixPath(header).name, ())
                if one.endswith("/" + header)]
        return ends[0] if len(ends) == 1 else None

    def _resolved(self, path):
        found = [(line, self._find(path, quoted[1:-1]), conditional)
                 for line, quoted, conditional in self.files[path].include
                 if quoted[0] == '"' or quoted.startswith("<vramscope/")]
        return [one for one in found if one[1]]

    def direct(self, path):
        """[(line, header of the tree, whether inside an #if)] that the file includes itself."""
        return self._direct[path]

    def standard(self, path):
        """{standard header: line, 0 inside an #if} that the file includes itself."""
        return {quoted[1:-1]: 0 if conditional else line
                for line, quoted, conditional in self.files[path].include
                if quoted[0] == "<" and quoted[1:-1] in STANDARD}

    def own(self, path):
        """X.h of X.c, where X.c includes it."""
        header = path[:-1] + "h"
        return header if path.endswith(".c") and any(
            found == header for _, found, _ in self.direct(path)) else None

    def reached(self, path):
        """Every header of the tree that the file's includes lead to."""
        if path not in self._reached:
            self._reached[path] = set()  # for circles
            self._reached[path] = self._leads_to(found for _, found, _ in self.direct(path))
        return self._reached[path]

    def _leads_to(self, headers):
        found = set(headers)
        return found.union(*[self.reached(header) for header in found])

    def stands_for(self, header):
        """The header with those that it stands for."""
        more = STAND_FOR.get(header, [])
        if header.startswith("include/"):
            more = [found for _, found, _ in self.direct(header)]
        return {header}.union(*[self.stands_for(one) for one in more if one in self.files])

    def provided(self, path):
        """The headers of the tree whose names the file may use."""
        own = self.own(path)
        headers = [found for _, found, _ in self.direct(path)]
        if own:
            headers += [found for _, found, _ in self.direct(own)]
        return set().union(*[self.stands_for(header) for header in headers])

    def missing(self, path, reached=None):
        """(line, name, header) of headers whose names the file uses without including them."""
        names, provided, own = self.files[path], self.provided(path), self.own(path)
        reached = self.reached(path) if reached is None else reached
        forwards = names.forwards | (self.files[own].forwards if own else set())
        found = {}
        for (space, name), line in names.uses.items():
            key = ("struct" if space else "", name)
            homes = [home for home in self.homes.get(key, ()) if home in reached]
            if len(homes) != 1 or homes[0] in provided or (space == "*" and key in forwards) \
                    or (path.endswith(".h") and key in names.declares):
                continue
            header = self._wanted(path, homes[0], reached)
            if header:
                found[header] = min(found.get(header, (line, name)), (line, name))
        return sorted((line, name, header) for header, (line, name) in found.items())

    def _wanted(self, path, header, reached):
        """What the file had better include for the names of a header; None: nothing is allowed."""
        allowed = self._may_include(path, header)
        if allowed and not header.startswith("include/"):
            return header
        stands = [one for one in [*STAND_FOR, *self._public]
                  if one in reached and one != path and header in self.stands_for(one)
                  and self._may_include(path, one)]
        return next((one for one in stands if one != header), header if allowed else None)

    def unneeded(self, path):
        """(line, header) of the headers of the tree that the file includes and does not need."""
        names, own, provided = self.files[path], self.own(path), self.provided(path)
        kept, doubtful = set(), []
        for line, header, conditional in self.direct(path):
            if header == own or conditional or self._is_used(names, header, provided):
                kept.add(header)
            elif names.accesses & set().union(
                    *[self.files[one].members for one in self.stands_for(header)]):
                doubtful.append((line, header))
            else:
                yield line, header
        # A struct is looked into that is never named: where nothing else brings it, it is needed.
        for i, (line, header) in enumerate(doubtful):
            if header in self._leads_to(kept | {other for _, other in doubtful[i + 1:]}):
                yield line, header
            else:
                kept.add(header)

    def _is_used(self, names, header, provided):
        for one in self.stands_for(header):
            declared, said = self.files[one].declares, self.files[one].forwards
            for space, name in names.uses:
                key = ("struct" if space else "", name)
                if space == "*" and key in names.forwards:
                    continue
                if key in declared or (space == "*" and key in said and not provided.intersection(
                        self.homes.get(key, ()))):
                    return True
        return False

    def _standard_uses(self, path):
        """(line, name as STANDARD writes it) of names that the tree does not declare."""
        names, reached = self.files[path], self.reached(path)
        for (space, name), line in names.uses.items():
            key = ("struct" if space else "", name)
            if key not in names.declares and not reached.intersection(self.homes.get(key, ())):
                yield line, f"struct:{name}" if space else name

    def standard_missing(self, path):
        """(line, name, header) of standard headers."""
        own = self.own(path)
        included = set(self.standard(path)) | (set(self.standard(own)) if own else set())
        found = {}
        for line, name in self._standard_uses(path):
            homes = [header for header in STANDARD if has(header, name)]
            if homes and not included.intersection(homes):
                found[homes[0]] = min(found.get(homes[0], (line, name)), (line, name))
        return sorted((line, name, header) for header, (line, name) in found.items())

    def standard_unneeded(self, path):
        """(line, header) of standard headers none of whose names an earlier one does not have."""
        own, included = self.own(path), self.standard(path)
        order = [header for header in STANDARD
                 if header in included or own and header in self.standard(own)]
        needed = BEFORE_CMOCKA if "cmocka.h" in included else set()
        for _, name in self._standard_uses(path):
            needed = needed | set([header for header in order if has(header, name)][:1])
        return sorted((line, header) for header, line in included.items()
                      if line and header not in needed)


def spelled(path):
    """A header of the tree as an include names it."""
    for folder in ("src/", "include/", "cli/", "python/", "capture/", "tests/unit/"):
        path = path.removeprefix(folder)
    return f'"{path}"'


def problems(sources, may_include=lambda path, header: True):
    """What `tools/check-layers` lists of includes: `file:line: what`."""
    tree = Tree(sources, may_include)
    for path in tree.files:
        found = [(line, f"uses {name} of {spelled(header)}, which it does not include")
                 for line, name, header in tree.missing(path)]
        found += [(line, f"uses {name.replace(':', ' ')} of <{header}>, which it does not include")
                  for line, name, header in tree.standard_missing(path)]
        found += [(line, f"{spelled(header)} is not needed")
                  for line, header in tree.unneeded(path)]
        found += [(line, f"<{header}> is not needed")
                  for line, header in tree.standard_unneeded(path)]
        for line, problem in sorted(found):
            yield f"{path}:{line}: {problem}"
