import json
print(json.dumps({"a":[1,2,{"b":None}],"c":"x\u00e9","d":1.5,"e":True}), json.loads('[1,2.0,"a",null]'), json.dumps("é", ensure_ascii=False))
