// The queues of others, one after the other: jobs per second from the first submission to the last
// completion that the queue's own server has acknowledged. As many submit and as many work at the same time
// as with ours, and each job is submitted by itself.
//
// None is to look slower than it is. What is fastest depends on the machine, so each is measured with every
// one of its `settings`, and the best of them is its figure. Before the clock starts some jobs go all the way:
// then connections are there, and what Node compiles is compiled. After it has stopped, the server is asked
// how many jobs are done; if that is not all of them, there is no figure.
//
// Each measurement is a process of its own: `node others.mjs NAME NUMBER`. Without arguments, all of them.
import { spawnSync } from 'node:child_process';
import { Queue, Worker } from 'bullmq';
import { Logger, makeWorkerUtils, run as graphile } from 'graphile-worker';
import * as nats from 'nats';
import pg from 'pg';
import PgBoss from 'pg-boss';

const jobs = Number(process.env.JOBS);
const warm = Math.ceil(jobs / 4);
const runners = Number(process.env.RUNNERS);
const sockets = process.env.SOCKETS;
const database = (max) => ({ host: sockets, user: 'fleet', database: 'postgres', max });
const pause = (millis) => new Promise((resolve) => { setTimeout(resolve, millis); });

/** One that does not come to an end is told as such, and keeps no other from being measured. */
const PATIENCE_MS = 120_000;

/** Counts what is done, and knows who waits for it. */
function ledger() {
    let done = 0, wait;
    const look = () => { if (wait && done >= wait.count) wait.resolve(); };
    return {
        add(count = 1) { done += count; look(); },
        fail: (error) => wait?.reject(error),
        until: (count) => new Promise((resolve, reject) => { wait = { count, resolve, reject }; look(); }),
    };
}

// Each opens a queue of a name that nobody has used, with workers who tell a ledger of what they have done, and
// returns how to
//   submit   one job; ends when it is acknowledged
//   settle   what workers do not wait for themselves, if there is any
//   counted  jobs that are done, as the server knows it
//   close    everything

async function bullmq(queueName, done, { workers }) {
    const connection = { path: `${sockets}/redis.sock`, maxRetriesPerRequest: null };
    const queue = new Queue(queueName, { connection });
    const working = Array.from({ length: workers }, () => {
        const concurrency = Math.ceil(runners / workers);
        const worker = new Worker(queueName, async () => {}, { connection, concurrency });
        return worker.on('completed', () => done.add()).on('error', done.fail);
    });
    await Promise.all([queue, ...working].map((one) => one.waitUntilReady()));
    return {
        submit: (n) => queue.add('job', { n }),
        counted: () => queue.getCompletedCount(),
        close: () => Promise.all([queue, ...working].map((one) => one.close())),
    };
}

async function graphileWorker(schema, done, { connections, batch }) {
    const pgPool = new pg.Pool(database(connections));
    const open = (client) => client.on('error', done.fail);
    open(pgPool).on('connect', open);
    const own = new pg.Client(database());
    await own.connect();
    const common = { concurrentJobs: runners, pollInterval: 100, schema };
    const batched = { localQueue: { size: batch }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
    const preset = { worker: batch ? { ...common, ...batched } : common };
    const options = { pgPool, preset, logger: new Logger(() => () => {}) };
    const utils = await makeWorkerUtils(options);
    await utils.migrate();
    let ran = 0;
    const bench = async () => { ran++; done.add(); };
    const runner = await graphile({ ...options, noHandleSignals: true, taskList: { bench } });
    // What is done is deleted; what failed stays.
    const left = async () => (await own.query(`select count(*)::int from ${schema}._private_jobs`)).rows[0].count;
    return {
        submit: (n) => utils.addJob('bench', { n }),
        // Its workers go on before the database knows that a job is done.
        async settle() { while (await left() > 0); },
        counted: async () => ran - await left(),
        async close() {
            await runner.stop();
            await utils.release();
            await own.end();
            await pgPool.end();
        },
    };
}

async function pgBoss(queueName, done, { connections, loops, batchSize }) {
    // Workers have connections of their own, so that they do not wait behind those who submit.
    const [submitting, working] = [connections, loops].map((max) =>
        new PgBoss({ ...database(max), supervise: false, schedule: false }).on('error', done.fail));
    await submitting.start();
    await working.start();
    await submitting.createQueue(queueName);
    let open = true;
    // Not `work`: that asks twice a second at most, however much there is to do.
    const loop = async () => {
        while (open) {
            const batch = await working.fetch(queueName, { batchSize });
            if (batch.length > 0) {
                done.add((await working.complete(queueName, batch.map((job) => job.id))).affected);
            } else {
                await pause(2);
            }
        }
    };
    const ended = Promise.all(Array.from({ length: loops }, loop)).catch(done.fail);
    return {
        submit: (n) => submitting.send(queueName, { n }),
        async counted() {
            const count = `select count(*)::int from pgboss.job where name = $1 and state = 'completed'`;
            return (await submitting.getDb().executeSql(count, [queueName])).rows[0].count;
        },
        async close() {
            open = false;
            await ended;
            await working.stop({ graceful: false });
            await submitting.stop({ graceful: false });
        },
    };
}

async function jetstream(name, done, { retention }) {
    const client = await nats.connect({ servers: process.env.NATS });
    const manager = await client.jetstreamManager();
    await manager.streams.add({ name, subjects: [name], retention });
    await manager.consumers.add(name, { durable_name: 'all', ack_policy: 'explicit' });
    const stream = client.jetstream();
    const consumer = await stream.consumers.get(name, 'all');
    const messages = await consumer.consume({ max_messages: runners });
    const ended = (async () => {
        // As with ours: done is what the other side has said that it knows.
        for await (const message of messages) message.ackAck().then(() => done.add(), done.fail);
    })();
    return {
        submit: (n) => stream.publish(name, String(n)),
        counted: async () => (await manager.consumers.info(name, 'all')).ack_floor.stream_seq,
        async close() {
            messages.stop();
            await ended;
            await client.close();
        },
    };
}

const peers = {
    bullmq: { open: bullmq, settings: [{ workers: 1 }, { workers: 4 }] },
    graphile_worker: { open: graphileWorker, settings: [{ connections: 10 }, { connections: runners }] },
    graphile_worker_batched: {
        open: graphileWorker,
        settings: [{ connections: 10, batch: runners + 1 }, { connections: 10, batch: 500 }],
    },
    pg_boss: {
        open: pgBoss,
        settings: [
            { connections: 60, loops: 4, batchSize: 100 },
            { connections: 32, loops: 1, batchSize: 500 },
        ],
    },
    // What is done may stay, as with ours: that is less to write.
    nats_jetstream: { open: jetstream, settings: [{ retention: 'workqueue' }, { retention: 'limits' }] },
};

/** Submits from so many at the same time, one job in a call. */
async function submitAll(count, submit) {
    let next = 0;
    await Promise.all(Array.from({ length: runners }, async () => {
        while (next < count) await submit(next++);
    }));
}

/** Submits so many, and waits until so many are done in all. */
async function through(peer, done, count, total) {
    await Promise.all([done.until(total), submitAll(count, peer.submit)]);
    await peer.settle?.();
}

/** Jobs per second. */
async function measure(name, number) {
    const done = ledger();
    const { open, settings } = peers[name];
    const peer = await open(`${name}_${number}`, done, settings[number]);
    await through(peer, done, warm, warm);
    const from = process.hrtime.bigint();
    await through(peer, done, jobs, warm + jobs);
    const seconds = Number(process.hrtime.bigint() - from) / 1e9;
    const counted = await peer.counted();
    if (counted !== warm + jobs) throw new Error(`${counted} of ${warm + jobs} jobs are done`);
    await peer.close();
    return Math.round(jobs / seconds);
}

/** Measures in another process. None, if it does not come to its end; why, it has said itself. */
function measureApart(name, number) {
    const found = spawnSync(process.execPath, [process.argv[1], name, String(number)], {
        stdio: ['ignore', 'pipe', 'inherit'], timeout: PATIENCE_MS, killSignal: 'SIGKILL', encoding: 'utf8',
    });
    if (found.error) console.error(`peers: ${name}: ${found.error.message}`);
    const rate = found.status === 0 ? Number(found.stdout) : null;
    console.error(`peers: ${name} ${JSON.stringify(peers[name].settings[number])}: ${rate}`);
    return rate;
}

function best(name) {
    const rates = peers[name].settings.map((_, number) => measureApart(name, number));
    return rates.every((rate) => rate === null) ? null : Math.max(...rates);
}

const [name, number] = process.argv.slice(2);
if (name) {
    console.log(await measure(name, number));
    // Some of them keep timers.
    process.exit(0);
}
console.log(JSON.stringify(Object.fromEntries(Object.keys(peers).map((name) => [name, best(name)]))));
