/**
 * Mail that people send: the daemon and Postfix's smtpd under the same load over TLS, the HTTP API beside them, and the memory that a large
 * message takes.
 */
import { installPackages } from '../support/debian.ts';
import { freePort } from '../support/loopback.ts';
import { ask, type Postrider, startPostrider } from './daemon.ts';
import { RECIPIENT, SENDER_DOMAIN, sampleEmail, toMessage } from './message.ts';
import { type LoadResult, observe, observeAccepting } from './observe.ts';
import { startPostfixPeer } from './postfix-peer.ts';
import { startSilentServer } from './postrider.ts';
import { watchMemory } from './process-tree.ts';
import { runModule, startModule } from './program.ts';
import type { Group, Measure } from './row.ts';
import { SMTP_SOURCE } from './smtp-source.ts';
import type { SubmissionLoad } from './submission-load-program.ts';
import type { Workspace } from './workspace.ts';

const SESSIONS = 20;
const MESSAGES = 4_000;
const WARM_UP_MESSAGES = 2_000;
const JOB = `SMTP in, submission with TLS, 4 KiB, ${SESSIONS} sessions`;
const LOGIN = { username: `ann@${SENDER_DOMAIN}`, password: 'correct horse battery' };
const LARGE_BYTES = 25 * 1024 * 1024;
const BASE64_LINE = `${'A'.repeat(76)}\r\n`;
const SMALL_BYTES = 4 * 1024;

export const submission: Group = {
  name: 'submission',
  async prepare(workspace) {
    const reason =
      process.getuid?.() === 0 ? installPackages({ postfix: SMTP_SOURCE }) : 'Postfix runs only as root';
    if (reason !== undefined) return { unavailable: reason };
    return {
      rows: [
        {
          name: `Postfix: ${JOB}, held`,
          unit: 'msg/s',
          comparison: { job: JOB, role: 'peer' },
          measure: () => measurePostfix(workspace),
        },
        {
          name: `Postrider: HTTP accept, ${SESSIONS} connections`,
          unit: 'msg/s',
          measure: () => measureHttp(workspace),
        },
        {
          name: `Postrider: ${JOB}, a mailbox`,
          unit: 'msg/s',
          aim: '1.0 x Postfix, 0.6 x HTTP accept',
          comparison: { job: JOB, role: 'measured' },
          measure: () => measurePostrider(workspace),
        },
        {
          name: 'Postrider: growth of memory by a message of 25 MiB',
          unit: 'MiB',
          aim: '< 64 MiB',
          measure: () => measureLarge(workspace),
        },
      ],
    };
  },
};

/** Returns a message of at least so many bytes, which declares no octets above 127. */
function messageOf(bytes: number): string {
  const base = toMessage({ ...sampleEmail(LOGIN.username), text: 'Hello' });
  const lines = Math.ceil(Math.max(0, bytes - base.length) / BASE64_LINE.length);
  return `${base.endsWith('\r\n') ? base : `${base}\r\n`}${BASE64_LINE.repeat(lines)}`;
}

function runLoad(load: Pick<SubmissionLoad, 'port' | 'messages' | 'login'>): Promise<LoadResult> {
  return run({ ...load, sessions: SESSIONS, message: messageOf(SMALL_BYTES) });
}

async function run(load: Omit<SubmissionLoad, 'sender' | 'recipient'>): Promise<LoadResult> {
  const input: SubmissionLoad = { ...load, sender: LOGIN.username, recipient: RECIPIENT };
  return await runModule<LoadResult>('submission-load-program.ts', input);
}

async function measurePostfix(workspace: Workspace): Promise<Measure> {
  await using peer = await startPostfixPeer(workspace, {
    job: 'accept',
    concurrency: SESSIONS,
    withTls: true,
  });
  const load = { port: peer.port, login: undefined };
  await runLoad({ ...load, messages: WARM_UP_MESSAGES });
  return await observe(peer.pids, MESSAGES, () => runLoad({ ...load, messages: MESSAGES }));
}

type Submitting = Postrider & { port: number };

/** Starts the daemon with a mailbox. Its mail waits for a server that never answers. */
async function startSubmitting(workspace: Workspace): Promise<Submitting> {
  const silent = await startSilentServer();
  const port = await freePort();
  const postrider = await startPostrider({
    dataDir: workspace.newFolder('postrider'),
    smtpPort: silent.port,
    submissionPort: port,
  });
  const { daemon, sender } = postrider;
  const { key, domainId } = sender;
  await ask(daemon, ['PATCH', `/v1/domains/${domainId}`, key], { productType: 'both' });
  const mailbox = { address: LOGIN.username, password: LOGIN.password };
  await ask(daemon, ['POST', '/v1/mailboxes', key], mailbox);
  return {
    ...postrider,
    port,
    async [Symbol.asyncDispose]() {
      await postrider[Symbol.asyncDispose]();
      silent[Symbol.dispose]();
    },
  };
}

/** Runs a measure with a daemon that has a mailbox. */
export async function withDaemon(
  workspace: Workspace,
  measure: (daemon: Submitting) => Promise<Measure>,
): Promise<Measure> {
  await using postrider = await startSubmitting(workspace);
  return await measure(postrider);
}

function measurePostrider(workspace: Workspace): Promise<Measure> {
  return withDaemon(workspace, async ({ daemon, port }) => {
    await runLoad({ port, login: LOGIN, messages: WARM_UP_MESSAGES });
    return observe([daemon.pid], MESSAGES, () => runLoad({ port, login: LOGIN, messages: MESSAGES }));
  });
}

function measureHttp(workspace: Workspace): Promise<Measure> {
  return withDaemon(workspace, async ({ daemon, load }) => {
    await observeAccepting([daemon.pid], load({ connections: SESSIONS, requests: WARM_UP_MESSAGES }));
    return observeAccepting([daemon.pid], load({ connections: SESSIONS, requests: MESSAGES }));
  });
}

/** The argument of a program is shorter than such a message, so that this process sends it. */
function measureLarge(workspace: Workspace): Promise<Measure> {
  return withDaemon(workspace, async ({ daemon, port }) => {
    await runLoad({ port, login: LOGIN, messages: SESSIONS });
    using memory = watchMemory(daemon.pid);
    await sendLarge(port);
    return { figure: memory.growthMiB() };
  });
}

async function sendLarge(port: number): Promise<void> {
  const program = startModule('submission-large-program.ts', {
    port,
    login: LOGIN,
    recipient: RECIPIENT,
    bytes: LARGE_BYTES,
  });
  await program.line();
  await program.ended;
}
