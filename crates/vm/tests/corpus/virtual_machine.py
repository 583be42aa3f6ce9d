from enum import IntEnum


class Op(IntEnum):
    PUSH = 1
    ADD = 2
    SUB = 3
    MUL = 4
    DUP = 5
    SWAP = 6
    JMP = 7
    JZ = 8
    LOAD = 9
    STORE = 10
    PRINT = 11
    HALT = 12
    CALL = 13
    RET = 14


class MachineError(RuntimeError):
    pass


def assemble(text):
    labels, program, fixups = {}, [], []
    for number, line in enumerate(text.strip().splitlines(), 1):
        line = line.split(';')[0].strip()
        if not line:
            continue
        if line.endswith(':'):
            labels[line[:-1]] = len(program)
            continue
        name, *args = line.split()
        try:
            program.append(Op[name.upper()])
        except KeyError:
            raise MachineError(f'line {number}: no operation {name!r}') from None
        for arg in args:
            if arg.lstrip('-').isdigit():
                program.append(int(arg))
            else:
                fixups.append((len(program), arg))
                program.append(None)
    for place, label in fixups:
        program[place] = labels[label]
    return program


class Machine:
    def __init__(self, program, limit=10_000):
        self.program, self.stack, self.calls, self.memory = program, [], [], {}
        self.at, self.steps, self.limit, self.output = 0, 0, limit, []

    def operand(self):
        self.at += 1
        return self.program[self.at - 1]

    def run(self):
        while True:
            self.steps += 1
            if self.steps > self.limit:
                raise MachineError('too many steps')
            op = Op(self.operand())
            if op is Op.HALT:
                return self.output
            getattr(self, 'do_' + op.name.lower())()

    def do_push(self):
        self.stack.append(self.operand())

    def do_add(self):
        self.stack.append(self.stack.pop() + self.stack.pop())

    def do_sub(self):
        b, a = self.stack.pop(), self.stack.pop()
        self.stack.append(a - b)

    def do_mul(self):
        self.stack.append(self.stack.pop() * self.stack.pop())

    def do_dup(self):
        self.stack.append(self.stack[-1])

    def do_swap(self):
        self.stack[-1], self.stack[-2] = self.stack[-2], self.stack[-1]

    def do_jmp(self):
        self.at = self.operand()

    def do_jz(self):
        target = self.operand()
        if not self.stack.pop():
            self.at = target

    def do_load(self):
        self.stack.append(self.memory.get(self.operand(), 0))

    def do_store(self):
        self.memory[self.operand()] = self.stack.pop()

    def do_print(self):
        self.output.append(self.stack.pop())

    def do_call(self):
        target = self.operand()
        self.calls.append(self.at)
        self.at = target

    def do_ret(self):
        self.at = self.calls.pop()


FACTORIAL = """
    push 10
    store 0        ; counter
    push 1
    store 1
loop:
    load 0
    jz done
    load 0
    load 1
    mul
    store 1
    load 0
    push 1
    sub
    store 0
    jmp loop
done:
    load 1
    print
    call twice
    halt
twice:
    push 21
    dup
    add
    print
    ret
"""
program = assemble(FACTORIAL)
machine = Machine(program)
print(program)
print(machine.run(), machine.steps, machine.memory, machine.stack)
for bad in ('jmp x\nx:\njmp x', 'add', 'fly 1', 'push 1\njmp 99'):
    try:
        print(Machine(assemble(bad), 100).run())
    except (MachineError, IndexError) as error:
        print(type(error).__name__, error)
print(Op.ADD, repr(Op.ADD), Op.ADD + 1, Op(3).name, list(Op)[:3], Op.PUSH < Op.HALT, f'{Op.JMP:>4}', int(Op.RET))
