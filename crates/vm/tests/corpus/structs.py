import struct, base64, hashlib, string, operator, contextlib
print(struct.pack(">IHb", 1, 2, -3), struct.unpack("<Hq", b"\x01\x00" + b"\xff" * 8), struct.calcsize(">I4sH"), struct.pack("<4sB", b"ab", 7))
print(base64.b64encode(b"hello world"), base64.b64decode("aGVsbG8="), base64.urlsafe_b64encode(b"\xff\xfe\xfd"), base64.b64encode(b""), base64.b64encode(b"a"))
print(hashlib.sha256(b"abc").hexdigest(), hashlib.sha3_256(b"").hexdigest())
h = hashlib.sha256(); h.update(b"a"); h.update(b"bc"); print(h.hexdigest() == hashlib.sha256(b"abc").hexdigest())
print(string.ascii_lowercase[:5], string.digits, operator.itemgetter(1)([1, 2]), operator.attrgetter("real")(5), sorted([(1, "b"), (0, "a")], key=operator.itemgetter(1)))
@contextlib.contextmanager
def tag(name):
    print("<" + name + ">")
    try: yield name.upper()
    finally: print("</" + name + ">")
with tag("p") as t: print(t)
with contextlib.suppress(KeyError): {}["x"]
try:
    with tag("q"): raise ValueError("in q")
except ValueError as error: print(error)
print(string.Template("$a and ${b}").substitute(a=1, b=2))
