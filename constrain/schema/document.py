"""A schema document: its dialects, its identifiers, and where each reference leads.

Takes the parsed JSON of a schema; gives `Location`s, each the schema value at a JSON Pointer of the
whole document with the base URI and draft that hold there. References are resolved inside the
document (bundled resources included) and among the documents given with it, and never fetched.
Knows nothing of what keywords mean beyond those that identify: $schema, $id, $anchor, $ref.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from constrain.errors import UnresolvableReference, UnsupportedSchema
from constrain.limits import Limits
from constrain.schema.keywords import Draft

__all__ = ["Document", "Location", "child_pointer", "pointer_parts"]

_DRAFTS = {
    "json-schema.org/draft-04/schema": Draft.DRAFT4,
    "json-schema.org/draft-06/schema": Draft.DRAFT6,
    "json-schema.org/draft-07/schema": Draft.DRAFT7,
    "json-schema.org/draft/2019-09/schema": Draft.DRAFT2019,
    "json-schema.org/draft/2020-12/schema": Draft.DRAFT2020,
}
_BUNDLE = "put that schema under $defs of this document, with its $id, or give it along by its URI"
# Keywords whose values are data: identifiers inside them identify nothing.
_DATA = frozenset({"enum", "const", "default", "examples"})
_MAPS = frozenset(
    {"properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies"}
)


def child_pointer(pointer: str, *parts: str | int) -> str:
    """Return the JSON Pointer (RFC 6901) of a child."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "/".join((pointer, *escaped))


def pointer_parts(pointer: str) -> list[str]:
    """Return the unescaped parts of a JSON Pointer, which is empty or starts with '/'."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


@dataclass(frozen=True, slots=True)
class Location:
    """A schema in its place: `base` is its resource's URI, `root` that resource's pointer."""

    pointer: str
    schema: Any
    base: str
    root: str
    draft: Draft


@dataclass(frozen=True, slots=True)
class _Anchor:
    pointer: str
    dynamic: bool


class Document:
    """The schema document and an index of the identifiers in it."""

    def __init__(
        self, schema: Any, limits: Limits, others: Mapping[str, Any] | None = None
    ) -> None:
        """Index the document, and of `others` (by URI) those that it refers to.

        Raises SchemaError or LimitExceeded (depth).
        """
        self.schema = schema
        self.others = others or {}
        self.draft = _draft_of(schema, "", Draft.DRAFT2020)
        self.keywords: set[str] = set()
        self._resources: dict[str, str] = {}
        self._anchors: dict[tuple[str, str], _Anchor] = {}
        self._dynamic_names: dict[str, set[str]] = defaultdict(set)
        self._locations: dict[str, Location] = {}
        self._referred: set[str] = set()
        self._limits = limits
        self._index()

    def at(self, pointer: str) -> Location:
        """Return the location at a pointer of the document, which exists."""
        found = self._locations.get(pointer)
        if found is None:
            found = self._locate(pointer)
            self._locations[pointer] = found
        return found

    def resolve(self, location: Location, reference: str, keyword: str = "$ref") -> Location:
        """Return where `reference` leads from there; raises UnresolvableReference."""
        place = child_pointer(location.pointer, keyword)
        target, fragment = urldefrag(reference)
        base = _absolute(location.base, target)
        root = self._resources.get(base)
        if root is None:
            fact = (
                f"the reference {reference!r} leads outside what was given, and nothing is fetched"
            )
            raise UnresolvableReference(fact, pointer=place, remedy=_BUNDLE)
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            anchor = self._anchors.get((self.at(root).base, fragment))
            if anchor is None:
                fact = f"no schema here has the anchor of the reference {reference!r}"
                raise UnresolvableReference(fact, pointer=place, remedy="name an existing anchor")
            return self.at(anchor.pointer)
        try:
            return self.at(root + fragment)
        except (KeyError, IndexError, ValueError):
            fact = f"the reference {reference!r} points at nothing in this document"
            remedy = "write it as '#/$defs/NAME' with a name that exists"
            raise UnresolvableReference(fact, pointer=place, remedy=remedy) from None

    def anchor(self, base: str, name: str) -> tuple[str, bool] | None:
        """Return the pointer of an anchor of a resource and whether it is dynamic."""
        found = self._anchors.get((base, name))
        return None if found is None else (found.pointer, found.dynamic)

    def dynamic_names(self, base: str) -> frozenset[str]:
        """Return the names of a resource's dynamic anchors; the one without a name is ""."""
        return frozenset(self._dynamic_names.get(base, ()))

    def resource_root(self, base: str) -> str:
        """Return the pointer of the root of a resource of this document."""
        return self._resources[base]

    def _locate(self, pointer: str) -> Location:
        if not pointer:
            return self._locations[""]
        parent_pointer, _, last = pointer.rpartition("/")
        parent = self.at(parent_pointer)
        value = _step(parent.schema, last.replace("~1", "/").replace("~0", "~"))
        return self._enter(value, pointer, parent)

    def _enter(self, value: Any, pointer: str, parent: Location) -> Location:
        if not isinstance(value, Mapping):
            return Location(pointer, value, parent.base, parent.root, parent.draft)
        draft = _draft_of(value, pointer, parent.draft)
        identifier = _identifier(value, draft)
        if identifier is None:
            return Location(pointer, value, parent.base, parent.root, parent.draft)
        base = _absolute(parent.base, identifier)
        return Location(pointer, value, base, pointer, draft)

    def _index(self) -> None:
        self._resources[""] = ""
        self._walk(self._enter(self.schema, "", Location("", None, "", "", self.draft)))
        while self._referred:
            uri = self._referred.pop()
            if uri not in self._resources:
                self._take_in(uri)

    def _take_in(self, uri: str) -> None:
        """Index a document given beside this one, or a draft's own schema, if `uri` is one's."""
        found = self.others.get(uri, self.others.get(f"{uri}#"))
        if found is None and "json-schema.org/" in uri:
            found = _metaschema(uri)
        if found is not None:
            pointer = uri.replace("/", "|")
            self._resources[uri] = pointer
            self._walk(
                self._enter(found, pointer, Location(pointer, None, uri, pointer, self.draft))
            )

    def _walk(self, start: Location) -> None:
        """Note the identifiers in a schema and all its parts."""
        todo = [(start, True, 0)]
        while todo:
            location, is_schema, depth = todo.pop()
            self._limits.check("depth", depth, place=f"#{location.pointer[:200]}")
            self._locations[location.pointer] = location
            if is_schema and isinstance(location.schema, Mapping):
                self._note(location)
            for name, value in _children(location.schema):
                if is_schema and name in _DATA:
                    continue
                child = self._enter(value, child_pointer(location.pointer, name), location)
                inside = not (is_schema and name in _MAPS)
                todo.append((child, inside, depth + isinstance(value, Mapping)))

    def _note(self, location: Location) -> None:
        schema, pointer = location.schema, location.pointer
        self.keywords.update(schema)
        if location.root == pointer and location.base:
            self._resources.setdefault(location.base, pointer)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(schema.get(keyword), str):
                self._referred.add(_absolute(location.base, urldefrag(schema[keyword]).url))
        identifier = schema.get("$id", schema.get("id"))
        if isinstance(identifier, str) and "#" in identifier and location.draft <= Draft.DRAFT7:
            self._anchors.setdefault(
                (location.base, urldefrag(identifier).fragment), _Anchor(pointer, dynamic=False)
            )
        if location.root == pointer and schema.get("$recursiveAnchor") is True:
            self._dynamic_names[location.base].add("")
        for keyword, dynamic in (("$dynamicAnchor", True), ("$anchor", False)):
            name = schema.get(keyword)
            if isinstance(name, str):
                if dynamic:
                    self._dynamic_names[location.base].add(name)
                self._anchors.setdefault((location.base, name), _Anchor(pointer, dynamic))


def _metaschema(uri: str) -> Any:
    """Return a draft's own schema or vocabulary, which is known without fetching, or None."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # noqa: PLC0415

    return REGISTRY.contents(uri) if uri in REGISTRY else None


def _children(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from ((k, v) for k, v in value.items() if isinstance(v, Mapping | list | bool))
    elif isinstance(value, list):
        yield from ((i, v) for i, v in enumerate(value) if isinstance(v, Mapping | list | bool))


def _step(value: Any, part: str) -> Any:
    if isinstance(value, Mapping):
        return value[part]
    if isinstance(value, list) and part.isdecimal():
        return value[int(part)]
    raise KeyError(part)


def _identifier(schema: Mapping[str, Any], draft: Draft) -> str | None:
    """Return the URI that makes `schema` a resource of its own, without its fragment."""
    if draft <= Draft.DRAFT7 and "$ref" in schema:
        return None
    value = schema.get("id" if draft == Draft.DRAFT4 else "$id")
    if not isinstance(value, str):
        return None
    return urldefrag(value).url or None


def _absolute(base: str, reference: str) -> str:
    """Return the URI that `reference` means at `base`; urljoin knows no urn: those stay whole."""
    if not reference:
        return base
    if base.startswith("urn:") or not base:
        return reference
    return urljoin(base, reference)


def _draft_of(schema: Any, pointer: str, default: Draft) -> Draft:
    uri = schema.get("$schema") if isinstance(schema, Mapping) else None
    if not isinstance(uri, str):
        return default
    known = uri.removeprefix("http://").removeprefix("https://").rstrip("#")
    if known in _DRAFTS:
        return _DRAFTS[known]
    if "json-schema.org/draft-0" in uri:
        raise UnsupportedSchema(
            f"the draft {uri!r} is older than draft 4",
            pointer=child_pointer(pointer, "$schema"),
            remedy="port the schema to a newer draft",
        )
    return default
