"""Schemas to types: every schema of the document, with all its keywords, as one `Type`.

Takes claims about a value ("satisfies the schema at this pointer"); gives the Type of the values
that fulfil them all, combinations and references resolved, children left as claims. Results are
kept, so a schema that is used a thousand times is read once. Says which keywords it could not
express (`answers`). Knows nothing of spelling.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from constrain.errors import SchemaError, UnsupportedSchema
from constrain.limits import Limits
from constrain.schema.absorb import absorbed
from constrain.schema.complement import LOOSE, failures, loose, object_failures
from constrain.schema.document import Document, Location, child_pointer
from constrain.schema.inhabited import contradicts, pruned
from constrain.schema.intersect import intersection, narrowed
from constrain.schema.keywords import KEYWORDS, Draft, KeywordAnswer
from constrain.schema.reading import Reading, TooManyAlternatives
from constrain.schema.types import (
    ANY_TYPE,
    FALSE,
    NO_TYPE,
    Claim,
    Claims,
    Clause,
    Equals,
    Located,
    Negated,
    ObjectAtom,
    Type,
)
from constrain.schema.values import constants

__all__ = ["Normalizer"]

# In-place nesting (allOf in allOf, chains of references) takes Python frames; values do not.
_MAX_NESTING = 100
# How deep into children one looks to see that an alternative is empty.
_MAX_PEEKS = 2
# Above this many alternatives of one kind an intersection is given up.
_MAX_ALTERNATIVES = 2_000
_MAX_KEPT = 64
# A complement with more than this many alternatives of objects is kept as clauses.
_MAX_FAILURES = 24
# What all intersections of unions may cost together: a few seconds.
_MAX_PAIRS = 100_000
_FEW = 16
# What makes a schema more than its `$ref` where siblings count.
_SILENT = frozenset({"$ref", "$defs", "definitions", "$schema", "$anchor", "$comment", "$id"})


class Normalizer:
    """Types of claims over one document. Not for use by two threads at a time."""

    def __init__(self, document: Document, limits: Limits, *, strict: bool) -> None:
        self.document = document
        self.answers: dict[str, KeywordAnswer] = {}
        self._limits = limits
        self._deadline = limits.deadline()
        self._strict = strict
        self._types: dict[Claims, Type] = {}
        # Types whose empty alternatives were not all looked for, and how deep inside others.
        self._guesses: dict[Claims, tuple[tuple[int, bool], Type]] = {}
        self._active: list[Located] = []
        self._open: set[Claim] = set()
        self._peeks = 0
        self._pairs = 0
        self._shallow = False
        keywords = document.keywords
        self.tracked = bool(keywords & {"unevaluatedProperties", "unevaluatedItems"})
        self._dynamic = bool(keywords & {"$dynamicRef", "$recursiveRef"})

    # ------------------------------------------------------------ claims to types

    def type_of(self, claims: Claims) -> Type:
        """Return the type of the values that fulfil all claims. Raises SchemaError."""
        known = self._types.get(claims)
        if known is not None:
            return known
        depth = (self._peeks, bool(self._open))
        guessed_at, guess = self._guesses.get(claims, (depth, None))
        if guess is not None and guessed_at <= depth:
            self._shallow = True
            return guess
        before, self._shallow = self._shallow, False
        found = self._all_of(claims)
        if self._shallow and any(depth):
            self._guesses[claims] = depth, found
        else:
            self._types[claims] = found
        self._shallow |= before and self._peeks > 0
        return found

    def _all_of(self, claims: Claims) -> Type:
        if contradicts(claims):
            return NO_TYPE
        if len(claims) == 1:
            return self._type_of_one(claims[0])
        found = ANY_TYPE
        try:
            for claim in claims:
                found = self.met(found, self.type_of((claim,)))
            return self.pruned(found)
        except TooManyAlternatives:
            raise _too_many(*claims) from None

    def _type_of_one(self, claim: Claim) -> Type:
        if isinstance(claim, Located):
            return self._schema_type(claim)
        if isinstance(claim, Equals):
            return constants([json.loads(claim.text)])
        if isinstance(claim, Negated):
            try:
                kind = self.type_of(claim.claims)
                if loose(kind):
                    self.note(self._place(claim.claims), "not", LOOSE)
                return self.without(ANY_TYPE, kind)
            except TooManyAlternatives:
                raise _too_many(*claim.claims) from None
        return NO_TYPE

    def _place(self, claims: Claims) -> Location:
        """Return the schema that claims are about, as far as one is named."""
        pointers = (claim.pointer for claim in claims if isinstance(claim, Located))
        return self.document.at(next(pointers, ""))

    def peek(self, claims: Claims) -> Type | None:
        """Return the type of a child, or None where finding out would lead too deep."""
        known = self._types.get(claims)
        if known is not None:
            return known
        if self._peeks >= _MAX_PEEKS or not self._open.isdisjoint(claims):
            self._shallow = True
            return None
        active, self._active = self._active, []
        self._peeks += 1
        try:
            return self.type_of(claims)
        except UnsupportedSchema:
            self._shallow = True
            return None
        finally:
            self._active = active
            self._peeks -= 1

    def met(self, left: Type, right: Type) -> Type:
        """Return the intersection; raises TooManyAlternatives."""
        self._deadline.check()
        if _pairs(left.arrays, right.arrays) > _MAX_ALTERNATIVES:
            raise TooManyAlternatives
        most = max(_MAX_KEPT, len(left.objects), len(right.objects))
        found = self._multiplied(left, right, most)
        if found is None:
            if self.tracked:
                raise TooManyAlternatives
            base, others = sorted((left.objects, right.objects), key=len, reverse=True)
            found = intersection(replace(left, objects=()), replace(right, objects=()))
            found = replace(found, objects=self._clause(base, others, denied=False))
        if len(found.arrays) > max(_MAX_KEPT, len(left.arrays), len(right.arrays)):
            raise TooManyAlternatives
        return found

    def _multiplied(self, left: Type, right: Type, most: int) -> Type | None:
        """Return the intersection, or None if it has more than `most` alternatives of objects."""
        if _pairs(left.objects, right.objects) > _MAX_ALTERNATIVES:
            return None
        found = intersection(left, right)
        if max(len(found.objects), len(found.arrays)) > _FEW:
            self._pairs += len(found.objects) + len(found.arrays)
            found = self.pruned(found)
        return found if len(found.objects) <= most else None

    def _clause(
        self, atoms: tuple[ObjectAtom, ...], others: tuple[ObjectAtom, ...], *, denied: bool
    ) -> tuple[ObjectAtom, ...]:
        """Return the atoms narrowed by a clause, of those others that overlap each."""
        self._pairs += len(atoms) * len(others)
        if self._pairs > _MAX_PAIRS:
            raise TooManyAlternatives
        found: list[ObjectAtom] = []
        for atom in atoms:
            near = tuple(other for other in others if self._overlap(atom, other))
            found += narrowed(atom, Clause(near, denied))
        return tuple(dict.fromkeys(found))

    def _overlap(self, left: ObjectAtom, right: ObjectAtom) -> bool:
        both = intersection(replace(NO_TYPE, objects=(left,)), replace(NO_TYPE, objects=(right,)))
        return bool(self.pruned(both))

    def without(self, found: Type, other: Type) -> Type:
        """Return the values of `found` that are not in `other`; raises TooManyAlternatives."""
        for part in failures(replace(other, objects=())):
            found = self.pruned(_absorbed(self.met(found, part)))
            if not found:
                return found
        multiplied = self._without_objects(found, other.objects)
        if multiplied is not None:
            return multiplied
        return replace(found, objects=self._clause(found.objects, other.objects, denied=True))

    def _without_objects(self, found: Type, atoms: tuple[ObjectAtom, ...]) -> Type | None:
        """Return the values outside of all the atoms, or None if that multiplies alternatives."""
        for atom in atoms:
            failing = replace(ANY_TYPE, objects=tuple(object_failures(atom)))
            multiplied = self._multiplied(found, failing, _MAX_ALTERNATIVES)
            if multiplied is None:
                return None
            found = self.pruned(_absorbed(multiplied))
            if len(found.objects) > _MAX_FAILURES:
                return None
        return found

    def pruned(self, kind: Type) -> Type:
        """Return the type without alternatives seen to be empty; raises TooManyAlternatives."""
        if max(len(kind.objects), len(kind.arrays)) > _MAX_ALTERNATIVES:
            raise TooManyAlternatives
        self._deadline.check()
        return pruned(kind, self.peek)

    # ------------------------------------------------------------ schemas

    def root(self) -> Claims:
        """Return the claim of the whole document."""
        return self.claims_at(self.document.at(""), ())

    def claims_at(self, location: Location, scope: tuple[str, ...]) -> Claims:
        """Return the claims of a schema: none for one that allows all, a target for a bare $ref."""
        schema = location.schema
        if isinstance(schema, bool):
            return () if schema else FALSE
        if not isinstance(schema, Mapping):
            raise SchemaError(
                "a schema is an object, true or false",
                pointer=location.pointer,
                remedy=f"replace {_shown(schema)}",
            )
        seen = {location.pointer}
        while self._only_refers(location):
            reference = self._reference(location, "$ref")
            location = self.document.resolve(location, reference)
            if location.pointer in seen:
                raise self._endless(location)
            seen.add(location.pointer)
            if isinstance(location.schema, bool):
                return () if location.schema else FALSE
        if not self._says_something(location):
            return ()
        return (Located(location.pointer, self._entered(scope, location)),)

    def _entered(self, scope: tuple[str, ...], location: Location) -> tuple[str, ...]:
        """Return the resources entered, of which those count that define a dynamic name first."""
        if not self._dynamic or location.base in scope:
            return scope
        known = frozenset().union(*map(self.document.dynamic_names, scope))
        return (
            (*scope, location.base) if self.document.dynamic_names(location.base) - known else scope
        )

    def _only_refers(self, location: Location) -> bool:
        schema = location.schema
        if not isinstance(schema, Mapping) or "$ref" not in schema:
            return False
        if location.draft <= Draft.DRAFT7:
            return not isinstance(schema["$ref"], Mapping)
        if self._dynamic:
            return False
        return not any(self._counts(k, location) for k in schema if k not in _SILENT)

    def _says_something(self, location: Location) -> bool:
        return not isinstance(location.schema, Mapping) or any(
            self._counts(k, location) for k in location.schema
        )

    def _counts(self, keyword: str, location: Location) -> bool:
        row = KEYWORDS.get(keyword)
        if row is None or row.answer == "annotation" or not row.known_in(location.draft):
            return False
        return row.vocabulary != "core" or keyword in ("$ref", "$dynamicRef", "$recursiveRef")

    def _schema_type(self, claim: Located) -> Type:
        location = self.document.at(claim.pointer)
        self._guard(claim)
        self._active.append(claim)
        entered = claim not in self._open
        self._open.add(claim)
        try:
            found = self._combined(location, claim.scope)
        except TooManyAlternatives:
            raise _too_many(claim) from None
        finally:
            self._active.pop()
            if entered:
                self._open.discard(claim)
        return found

    def _guard(self, claim: Located) -> None:
        if claim in self._active:
            raise self._endless(self.document.at(claim.pointer))
        allowed = min(self._limits.depth, _MAX_NESTING)
        replace(self._limits, depth=allowed).check(
            "depth", len(self._active) + 1, place=f"#{claim.pointer[:200]}"
        )

    def _combined(self, location: Location, scope: tuple[str, ...]) -> Type:
        schema = location.schema
        if location.draft <= Draft.DRAFT7 and "$ref" in schema:
            return self.referred(location, scope, "$ref")
        return Reading(self, location, scope).type()

    def referred(self, location: Location, scope: tuple[str, ...], keyword: str) -> Type:
        """Return the type of what a reference keyword of a schema leads to."""
        reference = self._reference(location, keyword)
        target = self._dynamic_target(location, scope, keyword, reference)
        return self.type_of(self.claims_at(target, scope))

    def _dynamic_target(
        self, location: Location, scope: tuple[str, ...], keyword: str, reference: str
    ) -> Location:
        target = self.document.resolve(location, reference, keyword)
        if keyword == "$ref":
            return target
        if keyword == "$recursiveRef":
            if not _recursive(target.schema):
                return target
            for base in scope:
                outer = self.document.at(self.document.resource_root(base))
                if _recursive(outer.schema):
                    return outer
            return target
        name = reference.partition("#")[2]
        anchor = self.document.anchor(target.base, name)
        if anchor is None or not anchor[1]:
            return target
        for base in scope:
            found = self.document.anchor(base, name)
            if found is not None and found[1]:
                return self.document.at(found[0])
        return target

    def _reference(self, location: Location, keyword: str) -> str:
        value = location.schema[keyword]
        if not isinstance(value, str):
            pointer = child_pointer(location.pointer, keyword)
            raise SchemaError("a reference is a text", pointer=pointer, remedy="write a URI")
        return value

    def _endless(self, location: Location) -> SchemaError:
        return UnsupportedSchema(
            "the schema refers to itself without entering a value, which means nothing",
            pointer=location.pointer,
            remedy="let the reference stand under properties or items",
        )

    # ------------------------------------------------------------ answers

    def note(self, location: Location, keyword: str, why: str) -> None:
        """Answer a keyword "checked"; raises UnsupportedSchema in strict mode."""
        pointer = child_pointer(location.pointer, keyword)
        if self._strict:
            fact = f"{keyword!r} cannot be enforced here: {why}"
            raise UnsupportedSchema(fact, pointer=pointer, remedy="drop it, or do without strict")
        self.answers.setdefault(pointer, KeywordAnswer(pointer, keyword, "checked", why))


def _pairs(left: tuple[object, ...], right: tuple[object, ...]) -> int:
    """Return how many alternatives multiplying gives at most; one alternative does not multiply."""
    return len(left) * len(right) if min(len(left), len(right)) > 1 else 0


def _absorbed(kind: Type) -> Type:
    return replace(kind, arrays=absorbed(kind.arrays), objects=absorbed(kind.objects))


def _too_many(*claims: Claim) -> UnsupportedSchema:
    pointer = next((c.pointer for c in claims if isinstance(c, Located)), "")
    fact = f"its combination has more than {_MAX_KEPT} alternatives"
    remedy = "combine fewer anyOf, oneOf or dependencies at one place"
    return UnsupportedSchema(fact, pointer=pointer, remedy=remedy)


def _recursive(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("$recursiveAnchor") is True


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) < 60 else f"{text[:57]}..."
