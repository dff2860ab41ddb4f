# SPDX-License-Identifier: BSD-3-Clause
"""Writes the types that castxml found as C or C++ text.

Limits: every type is spelled in one piece (prefix form), with __typeof__ in C and gt_type<> in C++
around what would otherwise be wound about a name. What has no name cannot be spelled.
"""
import re

from .fail import Unspeakable

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
FLOATS = {"float", "double", "long double"}
KINDS = {"Struct": "struct", "Class": "struct", "Union": "union", "Enumeration": "enum"}


class Speller:
    """Spells types of one castxml.Program."""

    def __init__(self, program, language, complex_as_atomic=False):
        self.program = program
        self.cxx = language == "c++"
        self.complex_as_atomic = complex_as_atomic
        self.known = {}

    def get(self, ident):
        """The element with this id."""
        element = self.program.by_id.get(ident)
        if element is None:
            raise Unspeakable("a type that castxml does not tell")
        return element

    def spell(self, ident):
        """The text of a type."""
        if ident not in self.known:
            self.known[ident] = self._spell(self.get(ident))
        return self.known[ident]

    def strip(self, element, typedefs=True):
        """The element behind qualifiers, elaborations and (if wanted) typedefs."""
        tags = ("CvQualifiedType", "ElaboratedType") + (("Typedef",) if typedefs else ())
        while element.tag in tags:
            element = self.get(element.get("type"))
        return element

    def one(self, text):
        """Makes one piece of a type."""
        return f"gt_type<{text}>" if self.cxx else f"__typeof__({text})"

    def _spell(self, e):
        spell = getattr(self, "_" + e.tag.lower(), None)
        if not spell:
            what = (e.get("type_class") or e.tag).replace("VariableArray", "array of variable length")
            raise Unspeakable(f"a type that castxml cannot describe ({what})")
        return spell(e)

    def _fundamentaltype(self, e):
        return {"wchar_t": "wchar_t"}.get(e.get("name"), e.get("name"))

    def _typedef(self, e):
        return self.scope(e) + self.name(e)

    def _elaboratedtype(self, e):
        return self.spell(e.get("type"))

    def _cvqualifiedtype(self, e):
        inner = self.spell(e.get("type"))
        words = [w for w, a in (("const", "const"), ("volatile", "volatile"),
                                ("__restrict", "restrict")) if e.get(a) == "1"]
        if self.strip(self.get(e.get("type")), False).tag in ("PointerType", "ArrayType"):
            inner = self.one(inner)
        return " ".join([inner] + words)

    def _pointertype(self, e):
        target = self.strip(self.get(e.get("type")), False)
        if target.tag == "Struct" and target.get("name") == "__va_list_tag":
            return self.one("&(*(__builtin_va_list *)0)[0]")
        inner = self.spell(e.get("type"))
        return (self.one(inner) if target.tag in ("FunctionType", "ArrayType") else inner) + " *"

    def _referencetype(self, e):
        return self.one(self.spell(e.get("type"))) + " &"

    def _rvaluereferencetype(self, e):
        return self.one(self.spell(e.get("type"))) + " &&"

    def _arraytype(self, e):
        if e.get("max") in (None, ""):
            return self.one(self.spell(e.get("type"))) + "[]"
        return self.one(self.spell(e.get("type"))) + f"[{int(e.get('max')) + 1}]"

    def _functiontype(self, e):
        args = [self.spell(a.get("type")) for a in e if a.tag == "Argument"]
        if any(a.tag == "Ellipsis" for a in e):
            args.append("...")
        return f"{self.one(self.spell(e.get('returns')))} ({', '.join(args) or ('' if self.cxx else 'void')})"

    def _methodtype(self, e):
        raise Unspeakable("a pointer to a member function")

    def _offsettype(self, e):
        return f"gt_member<{self.spell(e.get('type'))}, {self.spell(e.get('basetype'))}>"

    def _atomictype(self, e):
        inner = self.spell(e.get("type"))
        if self.complex_as_atomic and inner in FLOATS:
            return f"_Complex {inner}"
        return f"_Atomic({inner})"

    def _struct(self, e):
        return ("" if self.cxx else KINDS[e.tag] + " ") + self.scope(e) + self.name(e)

    _class = _union = _enumeration = _struct

    def name(self, e):
        """The element's own name, if it has one that can be written."""
        name = e.get("name") or ""
        if not name:
            raise Unspeakable("a type without a name")
        if IDENTIFIER.match(name):
            return name
        if self.cxx and re.match(r"[A-Za-z_][A-Za-z0-9_:<>, *&()\[\]]*\Z", name):
            return name
        raise Unspeakable("a type whose name has letters other than A-Z, a-z, 0-9 and _")

    def scope(self, e):
        """In C++ the namespaces and classes around an element, as "::a::b::"."""
        if not self.cxx:
            return ""
        names = []
        while e.get("context"):
            if e.get("access") in ("private", "protected"):
                raise Unspeakable("a type that is private to its class")
            e = self.get(e.get("context"))
            if e.get("name") == "::":
                break
            names.append(self.name(e))
        return "::" + "".join(n + "::" for n in reversed(names))

    def argument(self, arg):
        """The type of a function's argument; arrays are pointers, va_list keeps its name."""
        original = arg.get("original_type")
        if original and self.get(original).tag == "Typedef" and \
                self.strip(self.get(original)).tag == "ArrayType":
            element = self.get(arg.get("type"))
            target = self.strip(self.get(element.get("type")), False)
            if target.get("name") == "__va_list_tag":
                return "__builtin_va_list"
        return self.unqualified(arg.get("type"))

    def unqualified(self, ident):
        """The text of a type without const, volatile and restrict: they are the callee's business."""
        element = self.get(ident)
        while element.tag == "CvQualifiedType" and not self.cxx:
            element = self.get(element.get("type"))
        return self.spell(element.get("id"))

    def number(self, ident):
        """'i' or 'u' for an integer type, None for another."""
        e = self.strip(self.get(ident))
        if e.tag == "Enumeration":
            return "i"
        if e.tag != "FundamentalType" or e.get("name") in FLOATS | {"void"}:
            return None
        name = e.get("name")
        return "u" if "unsigned" in name or name in ("_Bool", "bool", "char16_t", "char32_t") else "i"
