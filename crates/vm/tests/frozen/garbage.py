# Garbage before and after each await, and more of it than one collection takes.
import cowboy


def waste(n):
    for i in range(n):
        x = [i, [i], {'k': str(i)}]
    return x


async def main():
    out = [waste(3000)]
    held = [[i] * 3 for i in range(50)]
    for n in range(5):
        for char in 'some text ' + chr(200 + n):
            out[0] = char
        try:
            value = await cowboy.submit_job(n)
        except RuntimeError as error:
            value = str(error)
        setattr(waste, 'attribute_%d' % n, value)
        out.append((value, waste(4000 + n)[0], held[n]))
    return repr((out, getattr(waste, 'attribute_1')))
