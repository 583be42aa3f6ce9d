"""Serves a model: serve_llm.py MODEL_FILE HOST PORT [KEY]. /health answers 200 once it is loaded."""

import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = [sys.argv[2]]
params.port = int(sys.argv[3])
if len(sys.argv) > 4:
    params.api_keys = [sys.argv[4]]
params.n_ctx = 1024
params.n_parallel = 1
# A second thread waits for the first at every step; on busy cores that is all it does.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_threads_http = 2
# An answer must not depend on what was asked before.
params.cache_prompt = False
params.ui = False
params.offline = True

server = xllamacpp.Server(params)
while True:
    signal.pause()
