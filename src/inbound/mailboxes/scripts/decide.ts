/** Runs the scripts of a mailbox for a message, and answers what they ask about the account. */
import type { Question } from '../../../mail/sieve/run/question.ts';
import { FORWARD_MARK } from '../../../mail/trace-fields.ts';
import { memoryKey } from '../../../mailboxes/scripts/memory-key.ts';
import { claim, isRemembered } from '../../../mailboxes/scripts/memory-store.ts';
import type { NamedScript, RunJob, ScriptResult } from '../../../mailboxes/scripts/script-job.ts';
import { findScript, listScripts } from '../../../mailboxes/scripts/store.ts';
import { DAY_MS } from '../../../system/clock.ts';
import { ConcurrencyLimiter } from '../../../system/concurrency-limiter.ts';
import { VERSION } from '../../../version.ts';
import { readForwardMarks } from '../../forward/mark.ts';
import { type DecidingApp, fieldsOf, type ScriptedMessage } from './delivery.ts';
import { excessOf, limitRedirects, type Plan, planAfterFailure, planOf } from './plan.ts';

export type Decision = { kind: 'decided'; plan: Plan } | { kind: 'busy'; reason: string };

/** Maximum number of runs for one message: each run asks for one fact that the one before lacked. Our own limit. */
const MAX_RUNS = 64;
/**
 * Time after which no further run of the scripts begins for a message, in milliseconds. It is shorter than the lease of a task, also with
 * the time that a last run waits for a thread. Our own limit.
 */
const MAX_RUNS_MS = 10_000;
/** Time for which a message counts as seen while its scripts run, in milliseconds. They then say for how long it does. */
const PROVISIONAL_MS = 7 * DAY_MS;
/** Maximum number of messages whose bodies are held for scripts at the same time: each may be as large as a message is. Our own limit. */
const MAX_BODIES = 2;
/** Score of a message that is twice as bad as one that is flagged counts as certain spam. */
const CERTAIN_SPAM = 2;

/**
 * Maximum number of redirects of a message that another address here has sent on: mailboxes that all redirect to several others would
 * multiply it with each step. Our own limit.
 */
const MAX_FURTHER_REDIRECTS = 1;

const bodies = new ConcurrencyLimiter({ maxRunning: MAX_BODIES, perFree: 1 });

/** The delivery that claims what the scripts ask about; undefined where they only say what they would do. */
type Claimant = { deliveryId: string | undefined };
/** Time of `clock.elapsed()` after which no further run begins. */
type Limited = { endsAt?: number };

/** Returns what the scripts decide. A run that asks something is repeated with the answer. */
export async function decide(
  app: DecidingApp,
  delivery: ScriptedMessage & Claimant & Limited,
  scripts: readonly NamedScript[],
): Promise<Decision> {
  const { endsAt = app.clock.elapsed() + MAX_RUNS_MS } = delivery;
  let job = firstJob(app, delivery, scripts);
  for (let runs = 0; runs < MAX_RUNS; runs++) {
    const result = await run(app, delivery, job);
    switch (result.kind) {
      case 'busy':
        return result;
      case 'failed':
        return { kind: 'decided', plan: planAfterFailure(result.failure) };
      case 'done':
        return { kind: 'decided', plan: boundedPlan(planFor(app, delivery, result), scripts) };
      case 'question': {
        const { question } = result;
        job = {
          ...job,
          answers: [...job.answers, { question, answer: await answerTo(app, delivery, question) }],
        };
        break;
      }
      case 'needs':
        job =
          result.what === 'body'
            ? { ...job, isWhole: true }
            : { ...job, included: await listIncludable(app, delivery) };
    }
    if (app.clock.elapsed() >= endsAt)
      return { kind: 'decided', plan: failedPlan(scripts, 'it takes too long with all that it asks') };
  }
  return { kind: 'decided', plan: failedPlan(scripts, `it asks more than ${MAX_RUNS} questions`) };
}

function boundedPlan(plan: Plan, scripts: readonly NamedScript[]): Plan {
  const excess = excessOf(plan);
  return excess === undefined ? plan : failedPlan(scripts, excess);
}

function failedPlan(scripts: readonly NamedScript[], message: string): Plan {
  return planAfterFailure({ script: scripts.at(-1)?.name ?? '', line: 0, message });
}

/** A message that this mailbox has sent on before goes round in circles, whatever the scripts have made of its header. */
function planFor(
  app: DecidingApp,
  { header, mailbox }: ScriptedMessage,
  { actions, remembered }: Extract<ScriptResult, { kind: 'done' }>,
): Plan {
  const plan = planOf(actions, remembered);
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
    kind: 'run',
    scripts,
    message: { octets: new Uint8Array(), sizeBytes: prefix.length + content.sizeBytes },
    isWhole: false,
    envelope: { from: message.sender, to: recipient },
    environment: environmentOf(config.hostname, message.remoteAddress),
    now: clock.now(),
    zoneMinutes: 0,
    answers: [],
    included: undefined,
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

/** Runs the job with the octets that it needs. Only some bodies are held at a time. */
async function run({ scriptRunner }: DecidingApp, delivery: ScriptedMessage, job: RunJob) {
  const { mailbox, header, prefix, content } = delivery;
  const runWith = (body: Buffer) => {
    // The copy is what crosses to the thread; a view would take the whole buffer that it is part of along.
    const octets = new Uint8Array(Buffer.concat([Buffer.from(prefix), header, body]));
    return scriptRunner.run({ ...job, message: { ...job.message, octets } }, mailbox.tenantId);
  };
  if (!job.isWhole) return await runWith(Buffer.alloc(0));
  return await bodies.run(async () => await runWith(await readBody(content, header.length)), {
    owner: mailbox.tenantId,
  });
}

async function readBody({ chunks }: ScriptedMessage['content'], headerBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const chunk of chunks()) pieces.push(chunk);
  return Buffer.concat(pieces).subarray(headerBytes);
}

/** Returns the scripts of the mailbox under the names by which a script includes them. There are no global ones. */
async function listIncludable({ db }: DecidingApp, { mailbox }: ScriptedMessage): Promise<NamedScript[]> {
  const found: NamedScript[] = [];
  for (const { name } of await listScripts(db.read, mailbox.id)) {
    const script = await findScript(db.read, { mailboxId: mailbox.id, name });
    if (script) found.push({ name: `personal/${name}`, content: script.content });
  }
  return found;
}

/** Answers a question about the account. @throws AppError unavailable when the mailbox cannot be asked */
async function answerTo(
  app: DecidingApp,
  delivery: ScriptedMessage & Claimant,
  question: Question,
): Promise<boolean> {
  if (question.kind === 'isDuplicate') return isDuplicate(app, delivery, question.key);
  const folders = await app.mailboxDelivery.listTargets(delivery.mailbox.id);
  switch (question.kind) {
    case 'mailboxesExist':
      return question.names.every((name) => folders.some((folder) => folder.name === name));
    case 'mailboxIdsExist':
      return question.ids.every((id) => folders.some((folder) => folder.mailboxId === id));
    case 'specialUsesExist': {
      const { mailbox, uses } = question;
      const candidates = folders.filter(({ name }) => mailbox === undefined || name === mailbox);
      return uses.every((use) => candidates.some((folder) => isSameUse(folder.specialUse, use)));
    }
  }
}

function isSameUse(one: string | null, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}

/** The first delivery that asks gets the key, also when several ask at the same time. */
async function isDuplicate(
  { db, clock }: DecidingApp,
  { mailbox, deliveryId }: ScriptedMessage & Claimant,
  key: string,
): Promise<boolean> {
  const now = clock.now();
  const memory = { mailboxId: mailbox.id, key: memoryKey('duplicate', key), now };
  if (deliveryId === undefined) return await isRemembered(db.read, memory);
  return !(await db.commit(claim, { ...memory, claimedBy: deliveryId, expiresAt: now + PROVISIONAL_MS }));
}
