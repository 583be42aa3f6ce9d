import math
print(math.floor(2.7), math.ceil(-0.5), math.sqrt(16), math.pow(2,3), math.log(100,10), math.degrees(math.pi))
