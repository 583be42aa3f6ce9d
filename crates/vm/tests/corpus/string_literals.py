s = "a\tb"; print(s, repr(s), 'it\'s', "q\"q", r"raw\n", b'by\x01te', '\u00e9', '\N{BULLET}')
