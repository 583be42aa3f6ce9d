# Data with fields. Annotations are text here: `_parse` reads the forms that the package knows.
import dataclasses
from cowboy_sdk import codec
from cowboy_sdk.errors import DeterminismError

_BASE = {
    'str': {'type': 'string'},
    'int': {'type': 'integer'},
    'float': {'type': 'number', 'format': 'softfloat'},
    'bool': {'type': 'boolean'},
    'bytes': {'type': 'string', 'format': 'base64'},
    'bytearray': {'type': 'string', 'format': 'base64'},
    'None': {},
    'list': {'type': 'array'},
    'dict': {'type': 'object'},
    'tuple': {'type': 'array'},
}
# Other names for the same.
_ALSO = {'SoftFloat': 'float', 'List': 'list', 'Dict': 'dict', 'Tuple': 'tuple'}

# Models by name: what an annotation can mean beside these.
_models = {}


def _parse(text):
    # The name and the arguments between its brackets.
    text = text.strip()
    if not text.endswith(']'):
        return text.rpartition('.')[2], []
    name, _, inside = text[:-1].partition('[')
    return name.strip().rpartition('.')[2], _split(inside, ',')


def _split(text, mark):
    parts = []
    depth = 0
    part = ''
    for char in text:
        if char == mark and depth == 0:
            parts.append(part)
            part = ''
            continue
        depth += (char in '[(') - (char in '])')
        part += char
    if part.strip():
        parts.append(part)
    return parts


def _schema(text):
    text = text.strip()
    if text[:1] in ('"', "'"):
        return {'type': 'string', '$comment': 'forward_ref: ' + text[1:-1]}
    name, args = _parse(text)
    either = _split(text, '|')
    if name in ('Optional', 'Union') or len(either) > 1:
        args = either if len(either) > 1 else args
        left = [arg for arg in args if arg.strip() != 'None']
        if len(left) == 1:
            return {**_schema(left[0]), 'nullable': True}
        return {'$comment': 'unknown_type: ' + name}
    name = _ALSO.get(name, name)
    if name in _models:
        return _models[name].schema()
    if name not in _BASE:
        return {'$comment': 'unknown_type: ' + name}
    schema = dict(_BASE[name])
    if name == 'list' and args:
        schema['items'] = _schema(args[0])
    elif name == 'dict' and len(args) == 2:
        schema['additionalProperties'] = _schema(args[1])
    elif name == 'tuple' and args:
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
            if field.type.strip('"\' ') in ('set', 'frozenset'):
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
            model = _models.get(field.type.strip())
            if model is not None and isinstance(value, dict):
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
