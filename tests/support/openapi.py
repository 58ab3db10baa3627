"""Checks answers against an OpenAPI description: the part of it that ours uses.

A schema word that this does not know is an error, not a pass.
"""
import json
import re

KNOWN = {"type", "properties", "required", "items", "enum", "nullable",
         "allOf", "$ref", "additionalProperties", "pattern", "description"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool,
         "integer": int, "number": (int, float)}


class Description:
    def __init__(self, text):
        self.document = json.loads(text)
        self.schemas = self.document["components"]["schemas"]
        self.asked = set()  # paths of which an answer was checked

    def operation(self, method, path):
        """The path of the description that a real path is, and its facts."""
        path = path.split("?")[0]
        for pattern, methods in self.document["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path):
                self.asked.add((method, pattern))
                return methods[method]
        raise AssertionError(f"{path} is not described")

    def check_answer(self, method, path, status, kind, body):
        responses = self.operation(method, path)["responses"]
        response = responses.get(str(status), responses["default"])
        content = response["content"]
        assert kind in content, f"{path}: {kind} is not described"
        if kind == "application/json":
            self.check(content[kind]["schema"], json.loads(body), path)

    def check(self, schema, value, at):
        unknown = set(schema) - KNOWN
        assert not unknown, f"{at}: schema words {unknown}"
        if value is None and schema.get("nullable"):
            return
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            self.check(self.schemas[name], value, at)
        for part in schema.get("allOf", ()):
            self.check(part, value, at)
        if "enum" in schema:
            assert value in schema["enum"], f"{at}: {value!r}"
        if "type" in schema:
            self.check_type(schema, value, at)

    def check_type(self, schema, value, at):
        kind = TYPES[schema["type"]]
        is_bool = isinstance(value, bool)
        assert isinstance(value, kind) and is_bool == (kind is bool), \
            f"{at}: {value!r} is no {schema['type']}"
        if isinstance(value, str) and "pattern" in schema:
            assert re.search(schema["pattern"], value), f"{at}: {value!r}"
        if isinstance(value, list) and "items" in schema:
            for number, item in enumerate(value):
                self.check(schema["items"], item, f"{at}[{number}]")
        if isinstance(value, dict):
            self.check_object(schema, value, at)

    def check_object(self, schema, value, at):
        properties = schema.get("properties", {})
        for key in schema.get("required", ()):
            assert key in value, f"{at}: no '{key}'"
        for key, item in value.items():
            if key in properties:
                self.check(properties[key], item, f"{at}.{key}")
            elif schema.get("additionalProperties") is False:
                raise AssertionError(f"{at}: '{key}' is not described")
