"""One schema, keyword by keyword: a reader for each group of keywords, and their intersection.

Takes a schema in its place and its `Owner` (who knows all other schemas); gives the Type that the
keywords describe together, in their order of appearance. This file holds the combinations (allOf,
anyOf, oneOf, not, if, dependencies, unevaluated); keywords about one kind of value are read by
`assertions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, Protocol

from constrain.errors import SchemaError
from constrain.schema.assertions import Assertions
from constrain.schema.complement import LOOSE, loose
from constrain.schema.document import Document, Location, child_pointer
from constrain.schema.intersect import union
from constrain.schema.keywords import KEYWORDS
from constrain.schema.strings import content
from constrain.schema.types import (
    ANY_TYPE,
    FALSE,
    NO_TYPE,
    ArrayAtom,
    Claims,
    Items,
    KeySet,
    NumberSet,
    ObjectAtom,
    Type,
    both,
    negated,
)
from constrain.schema.values import constants

__all__ = ["Owner", "Reading", "TooManyAlternatives"]

_MAX_SUBSETS = 5
_OBJECT_KEYWORDS = (
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "minProperties",
    "maxProperties",
)
_ARRAY_KEYWORDS = ("items", "prefixItems", "additionalItems", "contains", "minItems", "maxItems")
_NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_STRING_KEYWORDS = ("pattern", "format", "minLength", "maxLength")
_GROUPS: dict[str, str] = {
    **dict.fromkeys(_OBJECT_KEYWORDS, "properties"),
    **dict.fromkeys((*_ARRAY_KEYWORDS, "uniqueItems"), "items"),
    **dict.fromkeys(_NUMBER_KEYWORDS, "minimum"),
    **dict.fromkeys(_STRING_KEYWORDS, "pattern"),
}


class TooManyAlternatives(Exception):
    """An intersection that would need more alternatives than are kept."""


class Owner(Protocol):
    """What a reading asks of the normaliser."""

    document: Document
    tracked: bool

    def type_of(self, claims: Claims) -> Type:
        """Return the type of the values that fulfil all claims."""

    def claims_at(self, location: Location, scope: tuple[str, ...]) -> Claims:
        """Return the claims of a schema."""

    def referred(self, location: Location, scope: tuple[str, ...], keyword: str) -> Type:
        """Return the type of what a reference leads to."""

    def met(self, left: Type, right: Type) -> Type:
        """Return the intersection; raises TooManyAlternatives."""

    def without(self, found: Type, other: Type) -> Type:
        """Return the values of `found` that are not in `other`; raises TooManyAlternatives."""

    def pruned(self, kind: Type) -> Type:
        """Return the type without alternatives that are seen to be empty."""

    def note(self, location: Location, keyword: str, why: str) -> None:
        """Answer a keyword "checked"."""


class Reading:
    """One schema being read: readers take what is found so far and give a type to intersect."""

    def __init__(self, owner: Owner, location: Location, scope: tuple[str, ...]) -> None:
        self.owner = owner
        self.location = location
        self.scope = scope
        self.assertions = Assertions(location, self.claims, owner.tracked)

    def type(self) -> Type:
        """Return the type that all keywords of the schema describe together."""
        draft = self.location.draft
        known = (k for k in self.location.schema if k in KEYWORDS and KEYWORDS[k].known_in(draft))
        parts = dict.fromkeys(_GROUPS.get(keyword, keyword) for keyword in known)
        found = ANY_TYPE
        for part in parts:
            if part in _READERS:
                found = self.owner.met(found, _READERS[part](self))
        if not _COMBINATIONS.isdisjoint(parts):
            found = self.owner.pruned(found)
        for part, narrow in _NARROWERS.items():
            if part in parts:
                found = narrow(self, found)
        return found

    def claims(self, keyword: str, *parts: str | int) -> Claims:
        """Return the claims of a child schema."""
        pointer = child_pointer(self.location.pointer, keyword, *parts)
        return self.owner.claims_at(self.owner.document.at(pointer), self.scope)

    def type_at(self, keyword: str, *parts: str | int) -> Type:
        """Return the type of a schema that applies to the same value."""
        return self.owner.type_of(self.claims(keyword, *parts))

    def branches(self, keyword: str) -> list[Type]:
        """Return the types of a list of schemas that apply to the same value."""
        count = len(self.assertions.listed(keyword))
        if not count:
            pointer = child_pointer(self.location.pointer, keyword)
            raise SchemaError(f"{keyword!r} is empty", pointer=pointer, remedy="give it a schema")
        return [self.type_at(keyword, i) for i in range(count)]

    # ------------------------------------------------------------ one kind of value

    def kinds(self) -> Type:
        """Read `type`."""
        return union(self.assertions.kinds())

    def const(self) -> Type:
        """Read `const`."""
        return constants([self.location.schema["const"]])

    def enum(self) -> Type:
        """Read `enum`."""
        return constants(self.assertions.listed("enum"))

    def numbers(self) -> Type:
        """Read the number keywords."""
        return replace(ANY_TYPE, numbers=NumberSet(ranges=(self.assertions.numbers(),)))

    def strings(self) -> Type:
        """Read the string keywords."""
        atom = self.assertions.strings()
        empty = atom.maximum is not None and atom.maximum < atom.minimum
        return replace(ANY_TYPE, strings=() if empty or atom.values == () else (atom,))

    def arrays(self) -> Type:
        """Read the array keywords."""
        atom = self.assertions.arrays()
        empty = atom.maximum is not None and atom.maximum < atom.minimum
        return replace(ANY_TYPE, arrays=() if empty else (atom,))

    def objects(self) -> Type:
        """Read the object keywords."""
        atom = self.assertions.objects()
        empty = atom.maximum is not None and atom.maximum < atom.minimum
        return replace(ANY_TYPE, objects=() if empty else (atom,))

    def property_names(self) -> Type:
        """Read `propertyNames`: keys of other names are forbidden."""
        names = self.owner.type_of(self.claims("propertyNames")).strings
        listed = frozenset(v for atom in names for v in atom.values or ())
        languages = tuple(content(atom) for atom in names if atom.values is None)
        inexact = any(atom.formats or atom.inexact for atom in names)
        wrong = KeySet(listed, languages, outside=True, inexact=inexact)
        return _objects(ObjectAtom(rules=((wrong, FALSE),)))

    # ------------------------------------------------------------ combinations

    def reference(self) -> Type:
        """Read `$ref`."""
        return self.owner.referred(self.location, self.scope, "$ref")

    def dynamic_reference(self) -> Type:
        """Read `$dynamicRef`."""
        return self.owner.referred(self.location, self.scope, "$dynamicRef")

    def recursive_reference(self) -> Type:
        """Read `$recursiveRef`."""
        return self.owner.referred(self.location, self.scope, "$recursiveRef")

    def all_of(self) -> Type:
        """Read `allOf`."""
        found = ANY_TYPE
        for branch in self.branches("allOf"):
            found = self.owner.met(found, branch)
        return found

    def any_of(self) -> Type:
        """Read `anyOf`."""
        branches = self.branches("anyOf")
        if self.owner.tracked and len(branches) > _MAX_SUBSETS:
            self.owner.note(self.location, "anyOf", "too many branches beside unevaluated keywords")
        elif self.owner.tracked:
            branches += list(self._overlaps(branches))
        return union(branches)

    def _overlaps(self, branches: list[Type]) -> Iterator[Type]:
        """Give the intersections: what several branches evaluate counts together."""
        for size in range(2, len(branches) + 1):
            for chosen in combinations(branches, size):
                found = chosen[0]
                for other in chosen[1:]:
                    found = self.owner.met(found, other)
                yield found

    def one_of(self, found: Type) -> Type:
        """Narrow by `oneOf`: each branch without all others."""
        branches = [self._in_order("oneOf", found, b) for b in self.branches("oneOf")]
        return union(self._alone(branches, i) for i in range(len(branches)))

    def _in_order(self, keyword: str, found: Type, other: Type) -> Type:
        """Return the intersection, with the keys of what stands first in the schema first.

        Where one side declares all keys of the other and more, its order holds; only a single key
        in a branch of `oneOf` is a tag, and stays where it stands.
        """
        if _covers(found, other, least=2 if keyword == "oneOf" else 1):
            return self.owner.met(found, other)
        if _covers(other, found, least=2):
            return self.owner.met(other, found)
        for earlier in self.location.schema:
            if earlier == keyword:
                return self.owner.met(other, found)
            if earlier in {"properties", "required", "$ref", "allOf", "anyOf"}:
                break
        return self.owner.met(found, other)

    def _alone(self, branches: list[Type], index: int) -> Type:
        """Return the values of one branch that are in no other."""
        found = branches[index]
        others = (other for i, other in enumerate(branches) if i != index)
        near = [other for other in others if self.owner.pruned(self.owner.met(found, other))]
        return self.without(found, union(near), "oneOf") if near else found

    def without(self, found: Type, other: Type, keyword: str) -> Type:
        """Return the values of `found` outside of `other`, or all with a note where that fails."""
        if all(atom.unique for atom in found.arrays):
            # Among arrays without equal items, uniqueItems fails nowhere.
            some = tuple(replace(atom, unique=False) for atom in other.arrays)
            other = replace(other, arrays=some)
        try:
            shared = self.owner.pruned(self.owner.met(found, other))
            if loose(_of_kinds(other, shared)):
                self.owner.note(self.location, keyword, LOOSE)
            return self.owner.without(found, other)
        except TooManyAlternatives:
            self.owner.note(self.location, keyword, "its complement has too many alternatives")
            return found

    def not_(self, found: Type) -> Type:
        """Narrow by `not`."""
        return self.without(found, self.type_at("not"), "not")

    def conditional(self, found: Type) -> Type:
        """Narrow by `if`, `then` and `else`."""
        schema = self.location.schema
        if "then" not in schema and "else" not in schema and not self.owner.tracked:
            return found
        condition = self.type_at("if")
        held = self.owner.pruned(self._in_order("if", found, condition))
        failed = self.without(found, condition, "if")
        if "then" in schema:
            held = self._in_order("then", held, self.type_at("then"))
        if "else" in schema:
            failed = self._in_order("else", failed, self.type_at("else"))
        return union([held, failed])

    # ------------------------------------------------------------ dependencies

    def dependent_required(self, found: Type) -> Type:
        """Narrow by `dependentRequired`."""
        for name in self._entries("dependentRequired"):
            others = self.assertions.names("dependentRequired", name)
            found = self._if_present(found, name, _objects(ObjectAtom(required=others)))
        return found

    def dependent_schemas(self, found: Type) -> Type:
        """Narrow by `dependentSchemas`."""
        for name in self._entries("dependentSchemas"):
            found = self._if_present(found, name, self.type_at("dependentSchemas", name))
        return found

    def dependencies(self, found: Type) -> Type:
        """Narrow by `dependencies`: lists of names or schemas."""
        for name, value in self._entries("dependencies").items():
            if isinstance(value, str | list):
                one = isinstance(value, str)
                others = (str(value),) if one else self.assertions.names("dependencies", name)
                kind = _objects(ObjectAtom(required=others))
            else:
                kind = self.type_at("dependencies", name)
            found = self._if_present(found, name, kind)
        return found

    def _entries(self, keyword: str) -> Mapping[str, Any]:
        value = self.location.schema[keyword]
        if not isinstance(value, Mapping):
            pointer = child_pointer(self.location.pointer, keyword)
            raise SchemaError(f"{keyword!r} is not an object", pointer=pointer)
        return value

    def _if_present(self, found: Type, name: str, kind: Type) -> Type:
        """Return the values that lack the key (or are no objects), or have it and are of `kind`."""
        absent = _objects(ObjectAtom(named=((name, FALSE),)))
        present = replace(NO_TYPE, objects=(ObjectAtom(required=(name,)),))
        return self.owner.met(found, union([absent, self.owner.met(present, kind)]))

    # ------------------------------------------------------------ unevaluated

    def unevaluated_properties(self, found: Type) -> Type:
        """Add the rule for keys that nothing has evaluated to each alternative."""
        claims = self.claims("unevaluatedProperties")
        return replace(found, objects=tuple(_rest_of_keys(a, claims) for a in found.objects))

    def unevaluated_items(self, found: Type) -> Type:
        """Add the rule for items that nothing has evaluated to each alternative."""
        claims = self.claims("unevaluatedItems")
        return replace(found, arrays=tuple(_rest_of_items(a, claims) for a in found.arrays))


def _covers(kind: Type, other: Type, *, least: int) -> bool:
    """Return whether each object of a type declares all of `least` or more keys of another's."""
    declared = {name for atom in other.objects for name in atom.order}
    return len(declared) >= least and all(declared < set(atom.order) for atom in kind.objects)


def _of_kinds(kind: Type, others: Type) -> Type:
    """Return the strings, arrays and objects of a type, as far as the other one has any."""
    return Type(
        strings=kind.strings if others.strings else (),
        arrays=kind.arrays if others.arrays else (),
        objects=kind.objects if others.objects else (),
    )


def _rest_of_keys(atom: ObjectAtom, claims: Claims) -> ObjectAtom:
    everything = KeySet(outside=True)
    if everything in atom.evaluated or not claims:
        return replace(atom, evaluated=(everything,))
    names = frozenset().union(*(keys.names for keys in atom.evaluated))
    patterns = tuple(dict.fromkeys(p for keys in atom.evaluated for p in keys.patterns))
    rule = (KeySet(names, patterns, outside=True), claims)
    return replace(atom, rules=(*atom.rules, rule), evaluated=(everything,))


def _rest_of_items(atom: ArrayAtom, claims: Claims) -> ArrayAtom:
    if atom.evaluated is None or not claims:
        return replace(atom, evaluated=None)
    if atom.evaluated_by:
        neither: Claims = negated(claims)
        for each in atom.evaluated_by:
            neither = both(neither, negated(each))
        claims = negated(neither)
    return replace(atom, items=(*atom.items, Items(atom.evaluated, None, claims)), evaluated=None)


def _objects(*atoms: ObjectAtom) -> Type:
    return replace(ANY_TYPE, objects=atoms)


_READERS: dict[str, Callable[[Reading], Type]] = {
    "type": Reading.kinds,
    "const": Reading.const,
    "enum": Reading.enum,
    "minimum": Reading.numbers,
    "pattern": Reading.strings,
    "items": Reading.arrays,
    "properties": Reading.objects,
    "propertyNames": Reading.property_names,
    "$ref": Reading.reference,
    "$dynamicRef": Reading.dynamic_reference,
    "$recursiveRef": Reading.recursive_reference,
    "allOf": Reading.all_of,
    "anyOf": Reading.any_of,
}
# These narrow what all others left: the less is left, the fewer alternatives they make.
_NARROWERS: dict[str, Callable[[Reading, Type], Type]] = {
    "oneOf": Reading.one_of,
    "dependentRequired": Reading.dependent_required,
    "dependencies": Reading.dependencies,
    "dependentSchemas": Reading.dependent_schemas,
    "if": Reading.conditional,
    "not": Reading.not_,
    "unevaluatedItems": Reading.unevaluated_items,
    "unevaluatedProperties": Reading.unevaluated_properties,
}
_COMBINATIONS = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf"})
