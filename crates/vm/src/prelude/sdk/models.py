# Data with fields: a dataclass with bytes and a JSON schema.
import dataclasses
from typing import get_args, get_origin, Union
from cowboy_sdk import codec
from cowboy_sdk.errors import DeterminismError
from cowboy_sdk.types import SoftFloat

_BASE = {
    str: {'type': 'string'},
    int: {'type': 'integer'},
    float: {'type': 'number', 'format': 'softfloat'},
    SoftFloat: {'type': 'number', 'format': 'softfloat'},
    bool: {'type': 'boolean'},
    bytes: {'type': 'string', 'format': 'base64'},
    bytearray: {'type': 'string', 'format': 'base64'},
    type(None): {},
    list: {'type': 'array'},
    dict: {'type': 'object'},
    tuple: {'type': 'array'},
}

# Models by name: what an annotation that is text can mean beside the types above.
_models = {}
_named = {kind.__name__: kind for kind in _BASE}


def _parse(text):
    # What a text means, if it is the name of a type that is known; else the text.
    name = text.strip().rpartition('.')[2]
    return _named.get(name) or _models.get(name) or text


def _schema(kind):
    if isinstance(kind, str):
        meant = _parse(kind)
        if isinstance(meant, str):
            return {'type': 'string', '$comment': 'forward_ref: ' + kind.strip('"\' ')}
        kind = meant
    if kind is None:
        kind = type(None)
    origin = get_origin(kind)
    args = get_args(kind)
    if origin is Union or isinstance(kind, _UnionType):
        left = [arg for arg in args if arg is not type(None)]
        if len(left) == 1:
            return {**_schema(left[0]), 'nullable': True}
        return {'$comment': 'unknown_type: Union'}
    base = kind if origin is None else origin
    if isinstance(base, type) and issubclass(base, CowboyModel):
        return base.schema()
    if base not in _BASE:
        return {'$comment': 'unknown_type: ' + getattr(base, '__name__', repr(base))}
    schema = dict(_BASE[base])
    if base is list and args:
        schema['items'] = _schema(args[0])
    elif base is dict and len(args) == 2:
        schema['additionalProperties'] = _schema(args[1])
    elif base is tuple and args:
        schema['prefixItems'] = [_schema(arg) for arg in args]
        schema['maxItems'] = schema['minItems'] = len(args)
    return schema


def _plain(value):
    return value.to_dict() if isinstance(value, CowboyModel) else value


class CowboyModel:
    # A subclass is a dataclass, with bytes and a JSON schema.
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        dataclasses.dataclass(cls)
        for field in dataclasses.fields(cls):
            if field.type in (set, frozenset, 'set', 'frozenset'):
                raise DeterminismError(cls.__name__ + '.' + field.name + ' is a set, which has no CBOR form; a list has')
        _models[cls.__name__] = cls

    def to_dict(self):
        made = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, (list, tuple)):
                made[field.name] = [_plain(item) for item in value]
            else:
                made[field.name] = _plain(value)
        return made

    def to_cbor(self):
        return codec.encode(self.to_dict())

    @classmethod
    def from_cbor(cls, data):
        return cls.from_dict(codec.decode(data))

    @classmethod
    def from_dict(cls, d):
        if not isinstance(d, dict):
            raise TypeError(cls.__name__ + ' is made of a dict, not ' + type(d).__name__)
        given = {}
        for field in dataclasses.fields(cls):
            if field.name not in d:
                # The dataclass knows its defaults, and what is missing.
                continue
            value = d[field.name]
            model = _parse(field.type) if isinstance(field.type, str) else field.type
            if isinstance(model, type) and issubclass(model, CowboyModel) and isinstance(value, dict):
                value = model.from_dict(value)
            given[field.name] = value
        return cls(**given)

    @classmethod
    def schema(cls):
        fields = dataclasses.fields(cls)
        schema = {
            'type': 'object',
            'title': cls.__name__,
            'properties': {field.name: _schema(field.type) for field in fields},
        }
        required = [field.name for field in fields
                    if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING]
        if required:
            schema['required'] = required
        doc = (cls.__doc__ or '').strip()
        if doc:
            schema['description'] = doc
        return schema

    def validate(self):
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is None and field.default is dataclasses.MISSING:
                raise ValueError(type(self).__name__ + '.' + field.name + ' has no value')
