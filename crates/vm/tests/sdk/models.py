from typing import Optional, List, Dict
from cowboy_sdk import CowboyModel, DeterminismError


class Point(CowboyModel):
    """A place."""
    x: int
    y: int = 0


class Order(CowboyModel):
    """
    What somebody wants.
    """
    id: str
    amount: int
    price: float
    buyer: bytes
    at: Point
    items: list = None
    names: list[str] = None
    table: Dict[str, int] = None
    pair: tuple[int, str] = (1, 'a')
    note: Optional[str] = None
    flag: bool = False
    more: List[Point] = None

    def total(self):
        return self.amount * self.price


point = Point(3)
print(point, point == Point(3, 0), point == Point(4), point.to_dict(), point.to_cbor().hex())
print(Point.from_cbor(point.to_cbor()), Point.from_dict({'x': 1, 'y': 2, 'z': 3}), Point.schema())
order = Order(id='a', amount=3, price=1.5, buyer=b'\x00' * 3, at=point, items=[1, point], more=[Point(1), Point(2, 2)])
print(order, order.total())
print(order.to_dict())
print(order.to_cbor().hex())
again = Order.from_cbor(order.to_cbor())
print(again, again.at == point, type(again.at).__name__, again == order)
schema = Order.schema()
for name, part in schema['properties'].items():
    print(name, part)
print({key: value for key, value in schema.items() if key != 'properties'})
order.validate()
order.amount = None
try:
    order.validate()
except ValueError:
    print('no value')
for wrong in [lambda: Point(), lambda: Point.from_dict([1]), lambda: Point.from_dict({'y': 1}), lambda: Point(1, 2, 3)]:
    try:
        wrong()
    except TypeError as error:
        print(type(error).__name__)
for kind in ['set', 'frozenset']:
    try:
        if kind == 'set':
            class Bad(CowboyModel):
                tags: set
        else:
            class Bad(CowboyModel):
                tags: frozenset
    except DeterminismError as error:
        print(type(error).__name__)
