"""Grammars for JSON without room for endless white space.

JSON allows any amount of it between two words, and a small model that is held to JSON may write newlines until it has
no tokens left. Such a grammar allows one space at most.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MOST_DIGITS = 15
_COMMA = ' space "," space '
_FIXED = f"""
space ::= " "?
character ::= [^"\\\\\\x00-\\x1f] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{{4}})
integer ::= "-"? ("0" | [1-9] [0-9]{{0,{_MOST_DIGITS - 1}}})
boolean ::= "true" | "false"
null ::= "null"
"""

_PLAIN = {"integer": "integer", "boolean": "boolean", "null": "null"}
_KNOWN = {
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", "minItems", "maxItems"},
    "string": {"maxLength", "minLength"},
    "integer": set(),
    "boolean": set(),
    "null": set(),
}
_COMMENTS = {"title", "description", "$schema", "type"}


def json_grammar(schema: Mapping[str, Any]) -> str | None:
    """A grammar (EBNF) of the JSON that follows a schema, or None for a schema with more than this knows.

    Known are objects whose properties are all required and no others allowed, lists, text, whole numbers, truth
    values, null, and choices among constants.
    """
    rules: list[str] = []
    root = _rule(schema, rules)
    return None if root is None else "\n".join([f"root ::= {root}", *rules]) + _FIXED


def _rule(schema: Any, rules: list[str]) -> str | None:
    """The name of a rule, or what stands for one."""
    if not isinstance(schema, Mapping):
        return None
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if choices is not None:
        if set(schema) - _COMMENTS - {"const", "enum"} or not isinstance(choices, list) or not choices:
            return None
        return f"({' | '.join(_literal(json.dumps(choice, ensure_ascii=False)) for choice in choices)})"
    kind = schema.get("type")
    if not isinstance(kind, str) or set(schema) - _COMMENTS - _KNOWN.get(kind, set()) or kind not in _KNOWN:
        return None
    body = {"object": _object, "array": _array, "string": _string}.get(kind)
    if body is None:
        return _PLAIN[kind]
    made = body(schema, rules)
    if made is None:
        return None
    name = f"rule{len(rules)}"
    rules.append(f"{name} ::= {made}")
    return name


def _object(schema: Mapping[str, Any], rules: list[str]) -> str | None:
    properties = schema.get("properties", {})
    if (
        not isinstance(properties, Mapping)
        or schema.get("additionalProperties") is not False
        or set(schema.get("required", ())) != set(properties)
    ):
        return None
    parts = []
    for key, value in properties.items():
        rule = _rule(value, rules)
        if rule is None:
            return None
        parts.append(f"{_literal(json.dumps(key, ensure_ascii=False) + ':')} space {rule}")
    return f'"{{" space {_COMMA.join(parts)} space "}}"' if parts else '"{" space "}"'


def _array(schema: Mapping[str, Any], rules: list[str]) -> str | None:
    item = _rule(schema.get("items"), rules)
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if item is None or type(least) is not int or least < 0:
        return None
    if most is not None and (type(most) is not int or most < max(1, least)):
        return None
    further = f"({_COMMA.strip()} {item}){{{max(0, least - 1)},{'' if most is None else most - 1}}}"
    items = f"{item} {further}"
    return f'"[" space {items if least else f"({items})?"} space "]"'


def _string(schema: Mapping[str, Any], rules: list[str]) -> str | None:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if type(least) is not int or least < 0 or (most is not None and (type(most) is not int or most < least)):
        return None
    return f'"\\"" character{{{least},{"" if most is None else most}}} "\\""'


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
