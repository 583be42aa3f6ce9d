import cowboy

log = []


async def ask(n):
    return await cowboy.submit_job(n)


async def one(n):
    try:
        try:
            return await ask(n)
        finally:
            log.append(('finally', n))
            log.append(await ask('in finally'))
    except RuntimeError as error:
        log.append(str(error))
        try:
            again = await ask('in except')
            raise ValueError(again) from error
        except ValueError as inner:
            return (repr(inner), str(inner.__cause__), inner.__context__ is error)
    finally:
        log.append('outer')


async def main():
    out = []
    for n in range(4):
        try:
            out.append(await one(n))
        except RuntimeError as error:
            out.append('escaped ' + str(error))
            try:
                await ask('between')
                raise
            except RuntimeError as same:
                out.append(same is error)
    return repr((out, log))
