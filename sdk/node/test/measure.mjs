/**
 * Measures one thing, and prints a line of JSON. `npm run bench -- --only sdks` runs it against servers of its own:
 *
 *     node test/measure.mjs sends COUNT
 *     node test/measure.mjs parallel CALLERS EACH
 *     node test/measure.mjs faults FIRST COUNT CALLERS MAX_RETRIES
 *     node test/measure.mjs attachment file|bytes FILE
 *     node test/measure.mjs import
 */
import { openAsBlob, readFileSync } from 'node:fs';

const ROUNDS = 10;
const WARM_UP = 200;
/** A send that fails so often in a row has found something else than the faults that are asked for. */
const MAX_CALLS = 20;
const EMAIL = {
  from: 'bench@sender.test',
  to: ['b@recipient.test'],
  subject: 'Hello',
  html: '<p>It works.</p>',
  type: 'transactional',
};
const LIBRARY = new URL('../dist/index.js', import.meta.url);

const TASKS = { sends, parallel, faults, attachment, import: importTime };
const [task, ...args] = process.argv.slice(2);
console.log(JSON.stringify(await TASKS[task](...args)));
if (task === 'parallel') process.stdin.resume();

async function open(options) {
  const { Postrider } = await import(LIBRARY);
  return new Postrider(options);
}

/** Alternates rounds of sends and of bare requests. Times are medians of single calls, in microseconds; processor times are means. */
async function sends(count) {
  const client = await open();
  const kinds = { send: () => client.emails.send(EMAIL), bare: bareRequest };
  const seen = { send: { times: [], cpuUs: 0 }, bare: { times: [], cpuUs: 0 } };
  for (const call of Object.values(kinds)) for (let i = 0; i < WARM_UP; i += 1) await call();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [kind, call] of Object.entries(kinds)) {
      const before = process.cpuUsage();
      for (let i = 0; i < count / ROUNDS; i += 1) {
        const startedAt = performance.now();
        await call();
        seen[kind].times.push((performance.now() - startedAt) * 1000);
      }
      const { user, system } = process.cpuUsage(before);
      seen[kind].cpuUs += (user + system) / count;
    }
  client.close();
  const { send, bare } = seen;
  return {
    sendUs: median(send.times),
    bareUs: median(bare.times),
    sendCpuUs: send.cpuUs,
    bareCpuUs: bare.cpuUs,
  };
}

async function bareRequest() {
  const response = await fetch(`${process.env.SERVICE_BASE_URL}/v1/emails`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${process.env.SERVICE_API_KEY}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    },
    body: JSON.stringify(EMAIL),
  });
  return await response.json();
}

async function parallel(callers, each) {
  const client = await open();
  await inParallel(Number(callers), callers * each, () => client.emails.send(EMAIL));
  client.close();
  return {};
}

/** Sends numbered emails, and asks again with the key of the error as long as a call fails. */
async function faults(first, count, callers, maxRetries) {
  const client = await open({ maxRetries: Number(maxRetries) });
  let again = 0;
  await inParallel(Number(callers), Number(count), async (index) => {
    const email = { ...EMAIL, subject: `Number ${Number(first) + index}` };
    let idempotencyKey;
    for (let calls = 1; ; calls += 1) {
      try {
        return await client.emails.send(email, idempotencyKey === undefined ? {} : { idempotencyKey });
      } catch (error) {
        if (calls === MAX_CALLS) throw error;
        ({ idempotencyKey } = error);
        again += 1;
      }
    }
  });
  client.close();
  return { again };
}

/** Returns by how many bytes the memory of this process grows at most, the file in memory included. */
async function attachment(kind, file) {
  const client = await open();
  const send = (content) => client.emails.send({ ...EMAIL, attachments: [{ filename: 'a', content }] });
  await send(new Uint8Array(1024 * 1024));
  const before = memoryBytes('VmRSS');
  await send(kind === 'file' ? await openAsBlob(file) : readFileSync(file));
  client.close();
  return { bytes: memoryBytes('VmHWM') - before };
}

/** Reads a line of proc(5)'s status: VmRSS is the resident memory, VmHWM its peak, which does not count the parent as `maxRSS` does. */
function memoryBytes(name) {
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(
    readFileSync('/proc/self/status', 'utf8'),
  );
  return Number(kilobytes) * 1024;
}

/** Returns the time that the import takes when `fetch` and WebCrypto, which the runtime loads at their first use, are there. */
async function importTime() {
  new Request('http://127.0.0.1/');
  crypto.randomUUID();
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await import(LIBRARY);
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
}

async function inParallel(callers, count, work) {
  let next = 0;
  const caller = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}
