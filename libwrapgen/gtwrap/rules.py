# SPDX-License-Identifier: BSD-3-Clause
"""The rules file: which arguments go into the trace as parameters, and what is left out.

    cblas_dgemm: M N K              three parameters, named as the arguments
    fwrite: bytes=size*nmemb        one that is computed; + - * ( ) numbers, arguments, *argument
    fread: bytes=size*return        the result counts too
    dgemm_: m=*#3 n=*#4             arguments by number; what a pointer points to (0 for NULL)
    sqlite3_*_text: n               patterns: what a function does not have is left out silently
    foo_add: ...=foo_vadd           variadic: this is the form with a va_list; "...=": there is none
    read: @fd 0 #1 #3               gputrace's own wrappers: a function of hooks.h, with these arguments;
                                    "+int" among them: a variadic function is called with one int more;
                                    "@free! #1": the function may answer the call itself

Limits: integer arguments only; GT_WRAP_PARAMS parameters a function; no more than 20,000 lines.
An expression is read by this file's own parser and written anew: no text of the rules reaches the
compiler.
"""
import fnmatch
import re

from .fail import Failure

MOST = 4
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")
TOKEN = re.compile(r"\s*(?:(\d{1,18})|(#\d{1,3})|([A-Za-z_][A-Za-z0-9_]*)|([-+*()]))")


class Absent(Exception):
    """The function has no such argument."""


class Rule:
    """One line: a pattern for functions, and the parameters."""

    def __init__(self, pattern, parameters, where):
        self.pattern = pattern
        self.parameters = parameters # (name, tokens)
        self.hook = None             # (name, may answer, [tokens], type of one more argument)
        self.list = None             # the form with a va_list; "": none
        self.where = where
        self.used = False

    def exact(self):
        """Does the rule name one function?"""
        return not any(c in self.pattern for c in "*?[")


def tokens_of(text, where):
    """Splits an expression."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise Failure(f"{where}: '{text[:60]}' is no expression of arguments")
        found.append(match.group().strip())
        at = match.end()
    return found


MORE = {"+int": "int", "+unsigned": "unsigned", "+long": "long", "+pointer": "void *"}


def hook_of(words, where):
    """The name and arguments of a rule that calls a function of hooks.h."""
    name = words[0][1:].rstrip("!")
    more = [w for w in words[1:] if w in MORE]
    if not NAME.match(name):
        raise Failure(f"{where}: '{name[:60]}' is no name for a hook")
    return (name, words[0].endswith("!"), [tokens_of(w, where) for w in words[1:] if w not in MORE],
            MORE[more[0]] if more else None)


def read(path):
    """The rules of a file, in order."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(4 << 20).splitlines()
    except OSError as error:
        raise Failure(f"the rules file {path} cannot be read: {error.strerror}") from error
    if len(lines) > 20000:
        raise Failure(f"the rules file {path} has more than 20,000 lines")
    rules = []
    for number, line in enumerate(lines, 1):
        where = f"{path}:{number}"
        line = re.sub(r"(^|\s)#(?!\d).*", "", line).strip() # "#3" is an argument
        if not line:
            continue
        pattern, colon, rest = line.partition(":")
        pattern = pattern.strip()
        if not colon or not re.match(r"[A-Za-z0-9_*?:\[\]]+\Z", pattern):
            raise Failure(f"{where}: a rule is FUNCTION: PARAMETER ..., not '{line[:60]}'")
        parameters = []
        hook = None
        form = re.search(r"(?:^|\s)\.\.\.=([A-Za-z0-9_]*)(?=\s|$)", rest)
        if form:
            rest = rest[:form.start()] + rest[form.end():]
        if rest.split()[:1] and rest.split()[0].startswith("@"):
            hook, rest = hook_of(rest.split(), where), ""
        for word in re.sub(r"\s*([-+*=])\s*(?=[\w#(])", r"\1",
                           re.sub(r"\s+(?=[-+=])", "", rest)).split():
            name, equals, expression = word.partition("=")
            if not equals:
                expression, name = name, name.lstrip("*#")
            if not NAME.match(name) and not (not equals and name.isdigit()):
                raise Failure(f"{where}: '{name[:60]}' is no name for a parameter")
            parameters.append((name if NAME.match(name) else "argument " + name,
                               tokens_of(expression, where)))
        if not parameters and not hook and not form:
            raise Failure(f"{where}: no parameter is named")
        if len(parameters) > MOST:
            raise Failure(f"{where}: more than {MOST} parameters")
        rules.append(Rule(pattern, parameters, where))
        rules[-1].hook = hook
        rules[-1].list = form.group(1) if form else None
        rules[-1].used = form is not None # it may be there to leave something out
    return rules


class Expression:
    """Parses tokens and writes C for one function."""

    def __init__(self, tokens, function, speller, where):
        self.tokens = list(tokens)
        self.function = function
        self.speller = speller
        self.where = where
        self.signed = False
        self.uses_result = False
        self.pointers = False

    def text(self):
        """The expression in C."""
        out = self.sum()
        if self.tokens:
            raise Failure(f"{self.where}: '{self.tokens[0]}' stands where the expression should end")
        return out

    def take(self, *wanted):
        """The next token if it is one of these."""
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else None

    def sum(self):
        out = self.product()
        while (sign := self.take("+", "-")):
            self.signed |= sign == "-"
            out = f"({out} {sign} {self.product()})"
        return out

    def product(self):
        out = self.factor()
        while self.take("*"):
            out = f"({out} * {self.factor()})"
        return out

    def factor(self):
        if self.take("("):
            out = self.sum()
            if not self.take(")"):
                raise Failure(f"{self.where}: a ')' is missing")
            return out
        if self.take("*"):
            return self.argument(True)
        if self.tokens and self.tokens[0].isdigit():
            return str(int(self.tokens.pop(0))) + "ull"
        return self.argument(False)

    def argument(self, points):
        """An argument, or what it points to."""
        if not self.tokens or not re.match(r"[#A-Za-z_]", self.tokens[0]):
            raise Failure(f"{self.where}: an argument is missing")
        word = self.tokens.pop(0)
        if word == "return":
            ident, text = self.function.element.get("returns"), "gt_result"
            self.uses_result = True
        else:
            index = self.index(word)
            ident, text = self.function.args[index].get("type"), f"gt_a{index + 1}"
        if points:
            element = self.speller.strip(self.speller.get(ident))
            if element.tag != "PointerType":
                raise Failure(f"{self.where}: {word} is no pointer")
            ident = element.get("type")
            text = f"({text} ? *{text} : 0)"
        kind = self.speller.number(ident)
        if self.pointers and self.speller.strip(self.speller.get(ident)).tag == "PointerType":
            return f"(unsigned long long)(__UINTPTR_TYPE__){text}"
        if not kind:
            raise Failure(f"{self.where}: {word} is no integer in {self.function.name}")
        self.signed |= kind == "i"
        return f"(unsigned long long){text}"

    def index(self, word):
        if word[0] == "#":
            index = int(word[1:]) - 1
            if 0 <= index < len(self.function.args):
                return index
        # As it is; or, since one header may write N here and n there, whatever its case.
        for form in (lambda text: text.strip("_"), lambda text: text.strip("_").lower()):
            for index, arg in enumerate(self.function.args):
                if form(arg.get("name") or "") == form(word):
                    return index
        raise Absent(word)


def hook_for(rules, function, speller):
    """(name, may answer, [C text], type of one more argument) of the last rule that fits, or None."""
    fitting = [r for r in rules if r.hook and fnmatch.fnmatchcase(function.name, r.pattern)]
    if not fitting:
        return None
    fitting[-1].used = True
    name, answers, arguments, more = fitting[-1].hook
    texts = []
    for tokens in arguments:
        expression = Expression(tokens, function, speller, fitting[-1].where)
        expression.pointers = True
        try:
            texts.append(expression.text())
        except Absent as absent:
            raise Failure(f"{fitting[-1].where}: {function.name} has no argument {absent}") from absent
    return name, answers, texts, more


def parameters_for(rules, function, speller):
    """(kind and name, C text, uses the result) of each parameter of a function: the last rule that
    fits it counts."""
    fitting = [r for r in rules if r.parameters and fnmatch.fnmatchcase(function.name, r.pattern)]
    for rule in fitting:
        rule.used = True
    if not fitting:
        return []
    rule = fitting[-1]
    out = []
    for name, tokens in rule.parameters:
        expression = Expression(tokens, function, speller, rule.where)
        try:
            text = expression.text()
        except Absent as absent:
            if rule.exact():
                raise Failure(f"{rule.where}: {function.name} has no argument {absent}") from absent
            continue
        except Failure:
            if rule.exact():
                raise
            continue
        out.append((("i" if expression.signed else "u") + name, text, expression.uses_result))
    return out
