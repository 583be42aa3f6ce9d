import heapq, bisect, string, copy, statistics
h = [5, 1, 4]; heapq.heapify(h); heapq.heappush(h, 0); print(heapq.heappop(h), heapq.heappushpop(h, 3), heapq.heapreplace(h, 9), heapq.nlargest(2, [1, 5, 3]), heapq.nsmallest(2, [4, 1, 3], key=lambda x: -x), list(heapq.merge([1, 4], [2, 3])), h)
a = [1, 3, 3, 5]; print(bisect.bisect(a, 3), bisect.bisect_left(a, 3), bisect.bisect_right(a, 3)); bisect.insort(a, 4); print(a, bisect.bisect_left([(1, 'a'), (2, 'b')], 2, key=lambda p: p[0]))
print(statistics.mean([1, 2, 3, 4]), statistics.median([1, 3, 2]), statistics.median([1, 2, 3, 4]), statistics.mode([1, 1, 2]), statistics.pstdev([1, 2, 3]), statistics.stdev([1, 2, 3, 4]), statistics.variance([1, 2, 3]), statistics.fmean([1, 2]))
