import re


class Invalid(ValueError):
    def __init__(self, errors):
        self.errors = errors
        super().__init__('; '.join(f'{path or "value"}: {text}' for path, text in errors))


class Rule:
    def __init__(self):
        self.checks = []

    def check(self, test, message):
        self.checks.append((test, message))
        return self

    def run(self, value, path=''):
        errors = self.shape(value, path)
        if not errors:
            errors = [(path, message.format(value=value)) for test, message in self.checks if not test(value)]
        return errors

    def shape(self, value, path):
        return []

    def __or__(self, other):
        return AnyOf(self, other)

    def __call__(self, value):
        errors = self.run(value)
        if errors:
            raise Invalid(errors)
        return value


class Of(Rule):
    def __init__(self, *kinds):
        super().__init__()
        self.kinds = kinds

    def shape(self, value, path):
        if isinstance(value, self.kinds) and not (isinstance(value, bool) and bool not in self.kinds):
            return []
        names = ' or '.join(kind.__name__ for kind in self.kinds)
        return [(path, f'expected {names}, got {type(value).__name__}')]

    def between(self, low, high):
        return self.check(lambda v: low <= v <= high, f'{{value}} is not in {low}..{high}')

    def matching(self, pattern):
        return self.check(lambda v: re.fullmatch(pattern, v) is not None, '{value!r} does not match ' + pattern)

    def size(self, low, high=None):
        return self.check(lambda v: low <= len(v) <= (high or len(v)), f'size is not {low}..{high or ""}')


class AnyOf(Rule):
    def __init__(self, *rules):
        super().__init__()
        self.rules = rules

    def shape(self, value, path):
        found = [rule.run(value, path) for rule in self.rules]
        return [] if any(not errors for errors in found) else min(found, key=len)


class Many(Rule):
    def __init__(self, rule):
        super().__init__()
        self.rule = rule

    def shape(self, value, path):
        if not isinstance(value, (list, tuple)):
            return [(path, 'expected a list')]
        return [error for index, item in enumerate(value) for error in self.rule.run(item, f'{path}[{index}]')]


class Shape(Rule):
    def __init__(self, **fields):
        super().__init__()
        self.fields = fields

    def shape(self, value, path):
        if not isinstance(value, dict):
            return [(path, 'expected a dict')]
        errors = [(f'{path}.{key}'.lstrip('.'), 'unknown') for key in value if key.rstrip('?') not in {k.rstrip('_') for k in self.fields}]
        for key, rule in self.fields.items():
            name = key.rstrip('_')
            place = f'{path}.{name}'.lstrip('.')
            if name not in value:
                if not key.endswith('_'):
                    errors.append((place, 'missing'))
            else:
                errors += rule.run(value[name], place)
        return errors


user = Shape(
    name=Of(str).size(2, 10),
    age=Of(int).between(0, 150),
    email_=Of(str).matching(r'[\w.]+@[\w.]+'),
    tags_=Many(Of(str) | Of(int)),
    address_=Shape(city=Of(str), zip_=Of(str).matching(r'\d{5}')),
).check(lambda v: v['name'] != 'root', 'no root')
cases = [
    {'name': 'ann', 'age': 30}, {'name': 'x', 'age': 200}, {'name': 'bob', 'age': True, 'mail': 1}, {'age': '3', 'email': 'bad'},
    {'name': 'cid', 'age': 1, 'tags': ['a', 1, 2.5, None], 'address': {'zip': '12'}}, {'name': 'root', 'age': 1}, 'text',
    {'name': 'dan', 'age': 5, 'email': 'd@x.org', 'tags': [], 'address': {'city': 'Y', 'zip': '12345'}},
]
for case in cases:
    try:
        print('ok', user(case)['name'])
    except Invalid as error:
        print(len(error.errors), error)
