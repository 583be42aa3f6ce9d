s={1,2}; s2=s.copy(); s.add(3); print(len(s),len(s2), s>s2, s2.issubset(s), s-s2, {1}&{2}, s.pop() in (1,2,3)); s.clear(); print(s)
