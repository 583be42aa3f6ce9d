from cowboy_sdk import Verify, Retry, VerifyBuilder

CHECKS = [
    Verify.exact_match(), Verify.exact_match(5), Verify.json_schema_valid({'type': 'object'}),
    Verify.structured_match(('a', 'b')), Verify.majority_vote(), Verify.majority_vote('f', 0.6),
    Verify.supermajority_vote('f'), Verify.numeric_tolerance('p', 0.01), Verify.numeric_range('p'),
    Verify.numeric_range('p', 0, 5.5), Verify.numeric_range('p', max_val=3), Verify.set_equality('t'),
    Verify.contains_all(['a']), Verify.contains_none(('b', 'c')), Verify.regex_match('^a$'),
    Verify.length_bounds(), Verify.length_bounds(1, 5), Verify.semantic_similarity(),
    Verify.semantic_similarity('ref', 0.9), Verify.no_prompt_leak(), Verify.entropy_check(2.5),
    Verify.custom('mine', a=1, b='x'), Verify.custom_actor(bytes(range(20)), 'm'),
    Verify.custom_actor('0xab', 'm', {'k': 1}), Verify.custom_actor(bytes(25), 'm', {}), Verify.not_empty(), Verify.contains('x'),
    Verify.length_limit(10), Verify.length_limit(10, 2), Verify.http_status(), Verify.http_status(200),
    Verify.http_status(range_start=200, range_end=299), Verify.response_time(100),
    Verify.signature_valid(b'\x01\x02'), Verify.signature_valid('0x01'), Verify.tee_attestation(),
    Verify.tee_attestation(b'\xff'), Verify.deterministic_output(), Verify.field_exists('a', 'b'),
    Verify.format_check('json'), Verify.format_check('url', require_https=True),
]
for check in CHECKS:
    print(check)
builder = Verify.builder().mode('consensus').runners(3).threshold(2)
for check in CHECKS[:3]:
    builder.check(check)
spec = builder.timeout_blocks(20).build()
print(spec, type(builder) is VerifyBuilder)
builder.check(CHECKS[3])
print(len(spec['checks']), len(builder.build()['checks']), Verify.builder().build())
WRONG = [lambda: Verify.builder().mode('odd'), lambda: Verify.builder().runners(0), lambda: Verify.builder().runners(22),
         lambda: Verify.builder().check({'no': 1}), lambda: Verify.builder().threshold(2).build(),
         lambda: Verify.supermajority_vote('f', 0), lambda: Verify.numeric_tolerance('f', -1),
         lambda: Verify.numeric_range('f', 2, 1), lambda: Verify.semantic_similarity(threshold=2),
         lambda: Verify.entropy_check(-1), lambda: Verify.format_check('odd'), lambda: Retry(5), lambda: Retry(-1)]
for wrong in WRONG:
    try:
        print(wrong())
    except ValueError as error:
        print(type(error).__name__)

for attempts in range(5):
    retry = Retry(attempts, on_empty=True)
    print(retry, retry.to_dict(), list(retry), retry, retry.has_next(), retry.current_attempt, retry.max_attempts)
    print(retry.should_retry_on_error(), retry.reset().should_retry_on_error(), retry.should_retry_on_empty(), retry.should_retry_on_validation_fail())
retry = Retry.from_dict({'max_attempts': 1})
print(retry.next_delay(), retry)
try:
    retry.next_delay()
except StopIteration:
    print('no more')
