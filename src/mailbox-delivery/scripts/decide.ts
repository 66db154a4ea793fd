/** Runs the scripts of a mailbox for a message, and gives them what they need to know about the account. */
import { FORWARD_MARK } from '../../mail/trace-fields.ts';
import { type MemoryKey, memoryKey } from '../../mailboxes/scripts/memory-key.ts';
import { claimAll, listClaimed } from '../../mailboxes/scripts/memory-store.ts';
import type { NamedScript } from '../../mailboxes/scripts/named-script.ts';
import type { RunJob, ScriptResult } from '../../mailboxes/scripts/script-job.ts';
import { DAY_MS } from '../../system/clock.ts';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { VERSION } from '../../version.ts';
import { readForwardMarks } from '../forward/mark.ts';
import { type DecidingApp, fieldsOf, type ScriptedMessage } from './delivery.ts';
import { withNeeded } from './needed-input.ts';
import { excessOf, limitRedirects, type Plan, planAfterFailure, planOf } from './plan.ts';

export type Decision = { kind: 'decided'; plan: Plan } | { kind: 'busy'; reason: string };

/**
 * Maximum number of runs for one message: one each for the body and the folders, one for each level of included scripts, and some for
 * messages that came before.
 */
const MAX_RUNS = 16;
/**
 * Time after which no further run of the scripts begins for a message, in milliseconds. It is shorter than the lease of a task, also with
 * the time that a last run waits for a thread.
 */
const MAX_RUNS_MS = 10_000;
/**
 * Maximum size of all scripts that are included for a message, in characters: all of them are compiled in the time of one run. Our own
 * limit.
 */
const MAX_INCLUDED_CHARACTERS = 256 * 1024;
/** Time for which a message counts as seen while its scripts run, in milliseconds. They then say for how long it does. */
const PROVISIONAL_MS = 7 * DAY_MS;
/** Maximum number of messages whose bodies are held for scripts at the same time: each may be as large as a message is. */
const MAX_BODIES = 2;
/** Score of a message that is twice as bad as one that is flagged counts as certain spam. */
const CERTAIN_SPAM = 2;

/**
 * Maximum number of redirects of a message that another address here has sent on: mailboxes that all redirect to several others would
 * multiply it with each step.
 */
const MAX_FURTHER_REDIRECTS = 1;

const bodies = new ConcurrencyLimiter({ maxRunning: MAX_BODIES, perFree: 1 });

/** The delivery that claims what the scripts ask about; undefined where they only say what they would do. */
type Claimant = { deliveryId: string | undefined };
/** Time of `clock.elapsed()` after which no further run begins. */
type Limited = { endsAt?: number };

/** Returns what the scripts decide. A run that needs something more is repeated with it. */
export async function decide(
  app: DecidingApp,
  delivery: ScriptedMessage & Claimant & Limited,
  scripts: readonly NamedScript[],
): Promise<Decision> {
  const { endsAt = app.clock.elapsed() + MAX_RUNS_MS } = delivery;
  let job = firstJob(app, delivery, scripts);
  for (let runs = 0; runs < MAX_RUNS; runs++) {
    const result = await run(app, delivery, job);
    if (result.kind === 'busy') return result;
    if (result.kind === 'needs') {
      job = await withNeeded(app, delivery.mailbox, { job, needed: result });
      if (countIncluded(job) > MAX_INCLUDED_CHARACTERS)
        return failed(
          scripts,
          `the scripts that it includes have more than ${MAX_INCLUDED_CHARACTERS} characters`,
        );
    } else {
      const duplicates = await findDuplicates(app, delivery, { job, result });
      if (duplicates.length === 0)
        return { kind: 'decided', plan: planFor(app, delivery, { result, scripts }) };
      job = { ...job, duplicates: [...job.duplicates, ...duplicates] };
    }
    if (app.clock.elapsed() >= endsAt) return failed(scripts, 'it takes too long with all that it needs');
  }
  return failed(scripts, `it needs more than ${MAX_RUNS} runs`);
}

function failed(scripts: readonly NamedScript[], message: string): Decision {
  return { kind: 'decided', plan: failedPlan(scripts, message) };
}

function countIncluded({ included }: RunJob): number {
  return included.reduce((sum, { content }) => sum + content.length, 0);
}

function failedPlan(scripts: readonly NamedScript[], message: string): Plan {
  return planAfterFailure({ script: scripts.at(-1)?.name ?? '', line: 0, message });
}

type Decided = {
  result: Extract<ScriptResult, { kind: 'done' | 'failed' }>;
  scripts: readonly NamedScript[];
};

function planFor(app: DecidingApp, message: ScriptedMessage, { result, scripts }: Decided): Plan {
  if (result.kind === 'failed') return planAfterFailure(result.failure);
  const plan = withoutLoops(app, message, planOf(result.actions, result.remembered));
  const excess = excessOf(plan);
  return excess === undefined ? plan : failedPlan(scripts, excess);
}

/** A message that this mailbox has sent on before goes round in circles, whatever the scripts have made of its header. */
function withoutLoops(app: DecidingApp, { header, mailbox }: ScriptedMessage, plan: Plan): Plan {
  if (plan.outgoing.every(({ kind }) => kind !== 'redirect')) return plan;
  const marks = fieldsOf({ header }).filter(({ name }) => name === FORWARD_MARK.toLowerCase());
  const passed = readForwardMarks(
    app,
    marks.map(({ value }) => value),
  );
  if (passed.has(mailbox.address)) return limitRedirects(plan, 0);
  return passed.count > 0 ? limitRedirects(plan, MAX_FURTHER_REDIRECTS) : plan;
}

function firstJob(
  { clock, config }: DecidingApp,
  { message, recipient, content, prefix }: ScriptedMessage,
  scripts: readonly NamedScript[],
): RunJob {
  const { flagAt } = config.inbound.spam;
  const { spamScore } = message;
  const percent = spamScore === null ? undefined : (spamScore / (CERTAIN_SPAM * flagAt)) * 100;
  return {
    scripts,
    message: { octets: new Uint8Array(), sizeBytes: prefix.length + content.sizeBytes },
    isWhole: false,
    envelope: { from: message.sender, to: recipient },
    environment: environmentOf(config.hostname, message.remoteAddress),
    now: clock.now(),
    zoneMinutes: 0,
    folders: undefined,
    annotations: [],
    contacts: [],
    duplicates: [],
    included: [],
    missing: [],
    spamPercent: percent === undefined ? undefined : Math.min(Math.max(Math.round(percent), 0), 100),
  };
}

/** Items of RFC 5183 section 4.1. Mail of this machine has no remote address. */
function environmentOf(hostname: string, remoteAddress: string): RunJob['environment'] {
  return {
    host: hostname,
    domain: hostname.slice(hostname.indexOf('.') + 1),
    location: 'MDA',
    phase: 'during',
    name: 'Postrider',
    version: VERSION,
    'remote-ip': remoteAddress,
  };
}

const NO_BODY = Buffer.alloc(0);

/** Runs the job with the octets that it needs. Only some bodies are held at a time. */
async function run({ scriptRunner }: DecidingApp, delivery: ScriptedMessage, job: RunJob) {
  const { mailbox, header, prefix, content } = delivery;
  const runWith = (body: Buffer) => {
    const added = Buffer.from(prefix);
    // These octets cross to the thread; a view would take the whole buffer that it is part of along.
    const octets = new Uint8Array(added.length + header.length + body.length);
    octets.set(added);
    octets.set(header, added.length);
    octets.set(body, added.length + header.length);
    return scriptRunner.run({ ...job, message: { ...job.message, octets } }, mailbox.tenantId);
  };
  if (!job.isWhole) return await runWith(NO_BODY);
  return await bodies.run(async () => await runWith(await readBody(content, header.length)), {
    owner: mailbox.tenantId,
  });
}

async function readBody({ chunks }: ScriptedMessage['content'], headerBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const chunk of chunks()) pieces.push(chunk);
  return Buffer.concat(pieces).subarray(headerBytes);
}

/**
 * Returns those keys that a run took for new, although a message with them came before. When there is none, the delivery claims them: of
 * several that ask at the same time, the first one gets a key. A run that failed claims none.
 */
async function findDuplicates(
  { db, clock }: DecidingApp,
  { mailbox, deliveryId }: ScriptedMessage & Claimant,
  { job, result }: { job: RunJob; result: Decided['result'] },
): Promise<string[]> {
  const tested = result.remembered.map(({ key }) => key).filter((key) => !job.duplicates.includes(key));
  if (tested.length === 0) return [];
  const now = clock.now();
  const keys = tested.map((key) => memoryKey('duplicate', key));
  const claims = { mailboxId: mailbox.id, keys, claimedBy: deliveryId ?? '', now };
  const claimed =
    deliveryId === undefined || result.kind === 'failed'
      ? await listClaimed(db.read, claims)
      : await db.commit(claimAll, { ...claims, expiresAt: now + PROVISIONAL_MS });
  return tested.filter((_key, index) => claimed.includes(keys[index] as MemoryKey));
}
