import sys
print(sys.maxsize); sys.stdout.write('w\n')
raise SystemExit
