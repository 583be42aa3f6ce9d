// The queues of others, one after the other: jobs per second from the first submission to the last
// acknowledgement. As many submit and as many work at the same time as with ours, and each job is
// submitted by itself.
import { Queue, Worker } from 'bullmq';
import { run as graphile, makeWorkerUtils } from 'graphile-worker';
import PgBoss from 'pg-boss';
import * as nats from 'nats';
import pg from 'pg';

const jobs = Number(process.env.JOBS);
const runners = Number(process.env.RUNNERS);
const sockets = process.env.SOCKETS;
const database = () => ({ host: sockets, user: 'fleet', database: 'postgres' });

/** Submits from so many at the same time. */
async function submitAll(submit) {
    let next = 0;
    await Promise.all(Array.from({ length: runners }, async () => {
        while (next < jobs) await submit(next++);
    }));
}

/** One that does not come to an end is told as such, and keeps no other from being measured. */
const PATIENCE_MS = 120_000;

/** Measures; it says itself when it begins, after all connections are there. */
async function rate(name, measure) {
    let waiting;
    const late = new Promise((_, refuse) => {
        waiting = setTimeout(() => refuse(new Error('it does not come to an end')), PATIENCE_MS);
    });
    try {
        let from = process.hrtime.bigint();
        await Promise.race([late, measure(() => { from = process.hrtime.bigint(); })]);
        return [name, Math.round(jobs / (Number(process.hrtime.bigint() - from) / 1e9))];
    } catch (error) {
        console.error(`${name}: ${error?.stack ?? error}`);
        return [name, null];
    } finally {
        clearTimeout(waiting);
    }
}

function counter() {
    let done = 0, finish;
    const all = new Promise((resolve) => { finish = resolve; });
    return { one: () => { if (++done === jobs) finish(); }, all };
}

const measures = {
    async bullmq(begin) {
        const connection = { path: `${sockets}/redis.sock`, maxRetriesPerRequest: null };
        const queue = new Queue('bench', { connection });
        const { one, all } = counter();
        const worker = new Worker('bench', async () => {}, { connection, concurrency: runners });
        worker.on('completed', one);
        await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
        begin();
        await submitAll((n) => queue.add('job', { n }));
        await all;
        await worker.close();
        await queue.close();
    },
    async graphile_worker(begin) {
        const pgPool = new pg.Pool({ ...database(), max: runners });
        const utils = await makeWorkerUtils({ pgPool });
        await utils.migrate();
        const { one, all } = counter();
        const runner = await graphile({
            pgPool, concurrency: runners, noHandleSignals: true, pollInterval: 100,
            logger: new (await import('graphile-worker')).Logger(() => () => {}),
            taskList: { bench: async () => { one(); } },
        });
        begin();
        await submitAll((n) => utils.addJob('bench', { n }));
        await all;
        await runner.stop();
        await utils.release();
        await pgPool.end();
    },
    async pg_boss(begin) {
        const boss = new PgBoss({ ...database(), max: 16, supervise: false, schedule: false });
        await boss.start();
        await boss.createQueue('bench');
        const { one, all } = counter();
        for (let n = 0; n < 4; n++) {
            await boss.work('bench', { batchSize: 100, pollingIntervalSeconds: 0.5 },
                async (batch) => { batch.forEach(one); });
        }
        begin();
        await submitAll((n) => boss.send('bench', { n }));
        await all;
        await boss.stop({ graceful: false });
    },
    async nats_jetstream(begin) {
        const client = await nats.connect({ servers: process.env.NATS });
        const manager = await client.jetstreamManager();
        await manager.streams.add({ name: 'bench', subjects: ['bench'], retention: 'workqueue' });
        await manager.consumers.add('bench', { durable_name: 'all', ack_policy: 'explicit' });
        const stream = client.jetstream();
        const consumer = await stream.consumers.get('bench', 'all');
        const { one, all } = counter();
        const messages = await consumer.consume({ max_messages: runners });
        const working = (async () => {
            for await (const message of messages) {
                // As with ours: done is what the other side has said that it knows.
                message.ackAck().then(one);
            }
        })();
        begin();
        await submitAll((n) => stream.publish('bench', String(n)));
        await all;
        messages.stop();
        await working;
        await client.close();
    },
};

const figures = [];
for (const [name, measure] of Object.entries(measures)) {
    console.error(`peers: ${name}`);
    figures.push(await rate(name, measure));
}
console.log(JSON.stringify(Object.fromEntries(figures)));
process.exit(0);
