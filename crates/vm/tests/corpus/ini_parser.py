import re


class ConfigError(Exception):
    def __init__(self, line, message):
        super().__init__(f'line {line}: {message}')
        self.line = line


class Section(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def convert(text):
    if re.fullmatch(r'[-+]?\d+', text):
        return int(text)
    if re.fullmatch(r'[-+]?\d*\.\d+', text):
        return float(text)
    if text.lower() in ('yes', 'true', 'on'):
        return True
    if text.lower() in ('no', 'false', 'off'):
        return False
    if text[:1] == '[' and text[-1:] == ']':
        return [convert(part.strip()) for part in text[1:-1].split(',') if part.strip()]
    if len(text) > 1 and text[0] == text[-1] and text[0] in '"\'':
        return text[1:-1]
    return text


def parse(source):
    sections = {'': Section()}
    current = sections['']
    for number, line in enumerate(source.splitlines(), 1):
        line = re.sub(r'\s*[#;].*$', '', line).strip()
        if not line:
            continue
        if match := re.fullmatch(r'\[\s*([\w.]+)\s*(?::\s*([\w.]+)\s*)?\]', line):
            name, parent = match.groups()
            if name in sections:
                raise ConfigError(number, f'section {name!r} again')
            if parent and parent not in sections:
                raise ConfigError(number, f'no section {parent!r}')
            current = sections[name] = Section(sections[parent] if parent else {})
        elif match := re.fullmatch(r'([\w.-]+)\s*[=:]\s*(.*)', line):
            key, value = match.groups()
            value = re.sub(r'\$\{(\w+)\}', lambda m: str(current.get(m[1], sections[''].get(m[1], ''))), value)
            current[key] = convert(value)
        else:
            raise ConfigError(number, f'cannot read {line!r}')
    return sections


config = parse('''
name = demo   # the name
debug = yes
[server]
host = localhost
port: 8080
url = "http://${host}:${port}/${name}"
ratio = -.5
[server.test : server]
port = 9090
tags = [a, 1, 2.5, no]
''')
for name, section in config.items():
    print(repr(name), dict(section))
print(config['server'].port, config['server.test'].host, config['server.test'].tags)
try:
    config['server'].missing
except AttributeError as error:
    print('no', error)
for bad in ('x', '[a]\n[a]', '[b : c]', 'ok = 1\n!!'):
    try:
        parse(bad)
    except ConfigError as error:
        print(error, error.line)
