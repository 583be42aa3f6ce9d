"""Serves a model at a free port of this machine: serve_llm.py MODEL_FILE [KEY]"""

import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
if len(sys.argv) > 2:
    params.api_keys = [sys.argv[2]]
params.hostnames = ["127.0.0.1"]
params.port = 0
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

# Its listener is up, and the model is loaded, when this returns.
server = xllamacpp.Server(params)
print("listening at", server.listening_address, flush=True)
while True:
    signal.pause()
