# Runs scripts under CPython, each in a process of its own forked from this one: as good as a new
# interpreter, without the time that takes to start. Prints for each script a line with the type of the
# exception that ended it, or -, and the length of its output; then the output.
import os
import runpy
import sys
import traceback


def child(path, out):
    os.dup2(out, 1)
    kind = None
    try:
        runpy.run_path(path, run_name='__main__')
    except SystemExit as exit:
        kind = 'SystemExit' if exit.code not in (None, 0) and not isinstance(exit.code, int) else None
    except BaseException as error:
        kind = type(error).__name__
        traceback.print_exc()
    sys.stdout.flush()
    return kind


for path in sys.argv[1:]:
    text_in, text_out = os.pipe()
    kind_in, kind_out = os.pipe()
    if os.fork() == 0:
        os.close(text_in)
        kind = child(path, text_out)
        os.write(kind_out, (kind or '').encode())
        os._exit(0)
    os.close(text_out)
    os.close(kind_out)
    with os.fdopen(text_in, 'rb') as pipe:
        text = pipe.read()
    with os.fdopen(kind_in, 'rb') as pipe:
        kind = pipe.read().decode()
    os.wait()
    sys.stdout.buffer.write(('%s %d\n' % (kind or '-', len(text))).encode() + text)
    sys.stdout.buffer.flush()
