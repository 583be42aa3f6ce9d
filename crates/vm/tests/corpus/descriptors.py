class Typed:
    def __init__(self, kind, default=None):
        self.kind = kind
        self.default = default

    def __set_name__(self, owner, name):
        self.name = '_' + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return getattr(instance, self.name, self.default)

    def __set__(self, instance, value):
        if not isinstance(value, self.kind):
            raise TypeError(f'{self.name[1:]} must be {self.kind.__name__}, not {type(value).__name__}')
        setattr(instance, self.name, value)

    def __delete__(self, instance):
        delattr(instance, self.name)


class Lazy:
    def __init__(self, function):
        self.function = function

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        if instance is None:
            return self
        value = self.function(instance)
        instance.__dict__[self.name] = value
        return value


class Person:
    name = Typed(str)
    age = Typed(int, 18)
    computed = 0

    def __init__(self, name):
        self.name = name

    @Lazy
    def initials(self):
        Person.computed += 1
        return ''.join(part[0] for part in self.name.split())


p = Person('Ada Lovelace')
print(p.name, p.age, p.initials, p.initials, Person.computed, p.__dict__)
p.age = 36
print(p.age)
del p.age
print(p.age)
try:
    p.age = 'old'
except TypeError as error:
    print(error)
print(type(Person.name).__name__, Person.__dict__['age'].default)


class Proxy:
    def __init__(self, target):
        object.__setattr__(self, '_target', target)
        object.__setattr__(self, 'log', [])

    def __getattr__(self, name):
        self.log.append(('get', name))
        return getattr(self._target, name)

    def __setattr__(self, name, value):
        self.log.append(('set', name))
        setattr(self._target, name, value)

    def __delattr__(self, name):
        self.log.append(('del', name))
        delattr(self._target, name)


proxy = Proxy(p)
proxy.age = 7
print(proxy.age, p.age, proxy.log)
del proxy.age
print(p.age, proxy.log[-1], hasattr(proxy, 'nothing'))


class Positive:
    def __get__(self, instance, owner):
        return 'non-data'


class Holder:
    value = Positive()


h = Holder()
print(h.value)
h.value = 'own'
print(h.value, Holder.value)
