// A program as an author would write it: params are a number in decimal digits, the result is a JSON
// document about the primes below it. Compiled by the tests, with AssemblyScript.

export function alloc(length: i32): i32 {
  return heap.alloc(length) as i32;
}

export function run(at: i32, length: i32): i64 {
  const limit = read(at, length);
  const composite = new Uint8Array(limit);
  const primes = new Array<i32>();
  // Floats, so that their digits are compared between machines as well.
  let reciprocals: f64 = 0;
  for (let n = 2; n < limit; n++) {
    if (composite[n]) continue;
    primes.push(n);
    reciprocals += 1 / (n as f64);
    for (let multiple = 2 * n; multiple < limit; multiple += n) composite[multiple] = 1;
  }
  const last = primes.slice(-3).toString();
  const rounded = Math.round(reciprocals * 1e9) / 1e9;
  const document =
    `{"below": ${limit}, "count": ${primes.length}, "last": [${last}], "reciprocals": ${rounded}}`;
  const bytes = String.UTF8.encode(document);
  return ((changetype<usize>(bytes) as i64) << 32) | (bytes.byteLength as i64);
}

function read(at: i32, length: i32): i32 {
  if (length == 0) throw new Error("a number is wanted");
  let value = 0;
  for (let i = 0; i < length; i++) {
    const digit = (load<u8>(at + i) as i32) - 48;
    if (digit < 0 || digit > 9) throw new Error("no digit");
    value = value * 10 + digit;
  }
  return value;
}
