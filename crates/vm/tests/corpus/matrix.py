class Matrix:
    def __init__(s,r): s.r=r
    def __matmul__(s,o): return Matrix([[sum(a*b for a,b in zip(x,y)) for y in zip(*o.r)] for x in s.r])
    def __getitem__(s,ij): return s.r[ij[0]][ij[1]]
    def __setitem__(s,ij,v): s.r[ij[0]][ij[1]]=v
m=Matrix([[1,2],[3,4]])@Matrix([[0,1],[1,0]]); m[0,0]=9; print(m.r, m[1,0])
