class Node:
    def __init__(s,v,n=None): s.v=v; s.n=n
    def __iter__(s):
        while s: yield s.v; s=s.n
print(list(Node(1,Node(2,Node(3)))))
