#!/usr/bin/env python3
"""Pays an account, registers a runner and opens a link session, by docs/spec and public libraries alone.

Install: pip install aioquic cbor2 coincurve pycryptodome
Usage: client.py http://127.0.0.1:4100

The network needs a faucet, as that of `remuda dev` has. A second, unregistered key has to be sent away.
"""

import asyncio
import json
import os
import ssl
import sys
import urllib.error
import urllib.request

import cbor2
import coincurve
from aioquic import tls
from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import StreamDataReceived
from Crypto.Hash import keccak
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

CBY, exporters = 10**9, []


def keccak256(*parts):
    return keccak.new(digest_bits=256, data=b"".join(parts)).digest()


def be(number, size):
    return number.to_bytes(size, "big")


def address(key):  # §2.2
    return keccak256(key.public_key.format(compressed=False)[1:])[12:]


def sign(key, digest):  # §2.3
    return key.sign_recoverable(digest, hasher=None)


def transaction(key, status, nonce, instruction, cycles, cells, max_deposit):  # §3.1 to §3.3, §3.7
    chain_id = be(int(status["chain_id"]), 8)
    size = 8 * 4 + 16 * 5 + len(instruction) + 65
    body = chain_id + be(nonce, 8) + be(2_000 + cycles, 8) + be(size + cells, 8)
    for meter in ("cycle", "cell"):
        body += be(2 * int(status["basefees"][meter]), 16) + be(1, 16)
    body += be(max_deposit, 16) + instruction
    return body + sign(key, keccak256(b"cowboy-tx-v1:", chain_id, keccak256(body)))


def register(stake):  # §3.8, §5.7: an offer of Http jobs, free of charge
    kinds, none = be(1, 4) + be(2, 1), be(0, 4)
    offer = kinds + none * 4 + be(0, 16) * 4 + be(4, 4) + be(0, 16) + be(1, 1) + be(0, 2) + be(0, 1)
    return be(10, 1) + be(stake, 16) + offer


def ask(url, body=None):  # §3.14
    data = body and json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        return json.load(urllib.request.urlopen(request, timeout=60))
    except urllib.error.HTTPError as error:
        sys.exit(f"{url}: {error.read().decode()}")


def submit(api, signed):  # §3.14
    [result] = ask(f"{api}/submit", {"transaction": "0x" + signed.hex(), "wait": True})["results"]
    assert result["hash"] == "0x" + keccak256(signed).hex(), "§3.3"
    assert result["receipt"]["code"] == 0, result
    return result["receipt"]


class Link(QuicConnectionProtocol):
    """A control stream, cut into frames (§9.8)."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.frames, self.buffer = asyncio.Queue(), b""

    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived):
            self.buffer += event.data
        while len(self.buffer) >= 4 and len(self.buffer) >= (end := 4 + int.from_bytes(self.buffer[:4], "big")):
            self.frames.put_nowait((self.buffer[4], cbor2.loads(self.buffer[5:end])))
            self.buffer = self.buffer[end:]

    async def say(self, stream, number, fields):  # §9.9
        body = be(number, 1) + cbor2.dumps(fields)
        self._quic.send_stream_data(stream, be(len(body), 4) + body)
        self.transmit()
        return await asyncio.wait_for(self.frames.get(), 10)


def derive_secret(schedule, label, derive=tls.KeySchedule.derive_secret):
    """aioquic has no exporter (RFC 8446 §7.5); its master secret is derived where this label is."""
    if label == b"c ap traffic":
        expand, size = tls.hkdf_expand_label, schedule.algorithm.digest_size
        master = derive(schedule, b"exp master")
        secret = expand(schedule.algorithm, master, b"cowboy-cip11-handshake-v1", schedule.hash_empty_value, size)
        exporters.append(expand(schedule.algorithm, secret, b"exporter", schedule.hash_empty_value, 32))
    return derive(schedule, label)


async def greet(status, subset, key):  # §9.7, §9.10, §9.11
    there, chain_id = subset["validators"][0], be(int(status["chain_id"]), 8)
    host, port = there["link"].rsplit(":", 1)
    config = QuicConfiguration(is_client=True, alpn_protocols=["cowboy-cip11/1"], verify_mode=ssl.CERT_NONE)
    async with connect(host, int(port), configuration=config, create_protocol=Link) as link:
        validator = link._quic.tls._peer_certificate.public_key().public_bytes_raw()
        assert "0x" + validator.hex() == there["key"], "§9.7"
        runner, nonce = key.public_key.format(), os.urandom(32)
        me = {"version": 0x0100, "party_pubkey": runner, "party_role": "Runner", "block_height": subset["height"]}
        stream = link._quic.get_next_available_stream_id()
        number, theirs = await link.say(stream, 0x01, {**me, "challenge_nonce": nonce, "subset_epoch": subset["epoch"]})
        if number == 0xF0:
            return theirs["reason"]
        parts = exporters[-1], nonce, theirs["challenge_nonce"], runner, validator, be(theirs["subset_epoch"], 8)
        digests = [keccak256(b"cowboy-hello-v1:", chain_id, be(role, 1), *parts) for role in (1, 2)]
        number, ack = await link.say(stream, 0x02, {**me, "signed_challenge": sign(key, digests[0])})
        if number == 0xF0:
            return ack["reason"]
        Ed25519PublicKey.from_public_bytes(validator).verify(ack["signed_challenge"], digests[1])
        return "HelloAck"


def main(api):
    tls.KeySchedule.derive_secret = derive_secret
    key, other, status = coincurve.PrivateKey(), coincurve.PrivateKey(), ask(f"{api}/status")
    given = ask(f"{api}/faucet", {"address": "0x" + address(key).hex()})["transaction"]
    assert "Included" in ask(f"{api}/transaction/{given}/status?wait_ms=30000")["status"]
    transfer = be(1, 1) + address(other) + be(3 * CBY // 2, 16)  # §3.8
    paid = submit(api, transaction(key, status, 0, transfer, 200, 0, 0))
    assert int(ask(f"{api}/account/0x{address(other).hex()}")["balance"]) == 3 * CBY // 2
    print(f"payment: block {paid['height']}, fee {paid['fee']}")
    joined = submit(api, transaction(key, status, 1, register(10_000 * CBY), 5_000, 500, CBY))
    print(f"registration: block {joined['height']}, fee {joined['fee']}")
    subset = ask(f"{api}/runner/0x{address(key).hex()}/validators")
    stranger, known = asyncio.run(greet(status, subset, other)), asyncio.run(greet(status, subset, key))
    print(f"hello of an unregistered key: {stranger}\nhello of the runner: {known}")
    return 0 if (stranger, known) == ("not_registered", "HelloAck") else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
