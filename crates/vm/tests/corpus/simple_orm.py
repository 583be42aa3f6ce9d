class Field:
    counter = 0

    def __init__(self, kind, default=None, null=False):
        self.kind, self.default, self.null = kind, default, null
        Field.counter += 1
        self.order = Field.counter

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        return self if instance is None else instance._data.get(self.name, self.default)

    def __set__(self, instance, value):
        if value is None and not self.null:
            raise ValueError(f'{self.name} is required')
        if value is not None and not isinstance(value, self.kind):
            value = self.kind(value)
        instance._data[self.name] = value

    def __eq__(self, value):
        return Condition(self.name, '==', value)

    def __gt__(self, value):
        return Condition(self.name, '>', value)

    def contains(self, value):
        return Condition(self.name, 'in', value)

    __hash__ = object.__hash__


class Condition:
    OPS = {'==': lambda a, b: a == b, '>': lambda a, b: a is not None and a > b, 'in': lambda a, b: b in (a or '')}

    def __init__(self, name, op, value):
        self.name, self.op, self.value = name, op, value

    def __call__(self, row):
        return self.OPS[self.op](getattr(row, self.name), self.value)

    def __and__(self, other):
        return lambda row: self(row) and other(row)


class Query:
    def __init__(self, rows):
        self.rows = rows

    def where(self, *conditions, **exact):
        rows = [row for row in self.rows if all(c(row) for c in conditions) and all(getattr(row, k) == v for k, v in exact.items())]
        return Query(rows)

    def order(self, name):
        reverse = name.startswith('-')
        return Query(sorted(self.rows, key=lambda row: getattr(row, name.lstrip('-')), reverse=reverse))

    def __iter__(self):
        return iter(self.rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, key):
        return Query(self.rows[key]) if isinstance(key, slice) else self.rows[key]

    def first(self):
        return next(iter(self), None)


class ModelMeta(type):
    def __new__(mcs, name, bases, space):
        cls = super().__new__(mcs, name, bases, space)
        cls.fields = sorted((v for v in vars(cls).values() if isinstance(v, Field)), key=lambda f: f.order)
        cls.rows = []
        return cls

    @property
    def objects(cls):
        return Query(cls.rows)


class Model(metaclass=ModelMeta):
    def __init__(self, **values):
        self._data = {}
        unknown = values.keys() - {f.name for f in self.fields}
        if unknown:
            raise TypeError(f'unknown: {sorted(unknown)}')
        for f in self.fields:
            setattr(self, f.name, values.get(f.name, f.default))
        self.rows.append(self)

    def __repr__(self):
        return f'{type(self).__name__}({", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in self.fields)})'


class User(Model):
    name = Field(str)
    age = Field(int, null=True)
    city = Field(str, default='Oslo')


class Post(Model):
    title = Field(str)


User(name='ann', age='31')
User(name='bob', city='Rome')
User(name='cid', age=25)
Post(title='hello')
print(list(User.objects), len(Post.objects), [f.name for f in User.fields])
print([u.name for u in User.objects.where(User.age > 26)], User.objects.where(city='Oslo').order('-name')[0], len(User.objects.where((User.city == 'Oslo') & (User.age > 30))))
print(User.objects.where(User.name.contains('b')).first(), User.objects.where(name='zed').first(), User.objects[1:][0].name)
for bad in (lambda: User(), lambda: User(name='x', zip=1), lambda: User(name='x', age='old')):
    try:
        bad()
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)
