/** Postfix + OpenDKIM under smtp-source: what the classic pair does with the same message on the same machine. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '../support/debian.ts';
import { RECIPIENT_DOMAIN, sampleEmail, toMessage } from './message.ts';
import { observe, observeSending } from './observe.ts';
import { type PostfixPeerOptions, startPostfixPeer } from './postfix-peer.ts';
import type { Group, Measure } from './row.ts';
import { startSink } from './sink.ts';
import { runSmtpSource, SMTP_SOURCE } from './smtp-source.ts';
import type { Workspace } from './workspace.ts';

const PACKAGES = { postfix: SMTP_SOURCE, opendkim: '/usr/sbin/opendkim' };
const WARM_UP_MESSAGES = 200;
const ACCEPTED_MESSAGES = 5_000;
const SENT_MESSAGES = 3_000;
const ACCEPTING_SESSIONS = 100;
const SENDING_SESSIONS = 20;

export const postfix: Group = {
  name: 'postfix',
  async prepare(workspace) {
    const reason = process.getuid?.() === 0 ? installPackages(PACKAGES) : 'Postfix runs only as root';
    if (reason !== undefined) return { unavailable: reason };
    return {
      rows: [
        {
          name: `Postfix: durable accept by SMTP (held), ${ACCEPTING_SESSIONS} sessions`,
          unit: 'msg/s',
          comparison: { job: 'accept', role: 'peer' },
          measure: () => measureAccepting(workspace),
        },
        {
          name: `Postfix + OpenDKIM: SMTP to sink, RSA-2048, ${SENDING_SESSIONS} sessions`,
          unit: 'msg/s',
          comparison: { job: 'send', role: 'peer' },
          measure: () => measureSending(workspace),
        },
      ],
    };
  },
};

async function measureAccepting(workspace: Workspace): Promise<Measure> {
  const concurrency = ACCEPTING_SESSIONS;
  await using peer = await startUnderLoad(workspace, { job: 'accept', concurrency });
  await peer.send(WARM_UP_MESSAGES);
  return await observe(peer.pids, ACCEPTED_MESSAGES, () => peer.send(ACCEPTED_MESSAGES));
}

async function measureSending(workspace: Workspace): Promise<Measure> {
  await using sink = await startSink(workspace);
  const concurrency = SENDING_SESSIONS;
  await using peer = await startUnderLoad(workspace, { job: 'send', concurrency, sinkPort: sink.port });
  const observeMessages = (messages: number) =>
    observeSending(peer.pids, messages, sink, () => peer.send(messages));
  await observeMessages(WARM_UP_MESSAGES);
  return await observeMessages(SENT_MESSAGES);
}

async function startUnderLoad(workspace: Workspace, options: PostfixPeerOptions) {
  const message = join(workspace.newFolder('message'), 'message.eml');
  // smtp-source ends the lines itself.
  writeFileSync(message, toMessage(sampleEmail()).replaceAll('\r\n', '\n'));
  const peer = await startPostfixPeer(workspace, options);
  const send = (messages: number) =>
    runSmtpSource({
      ...{ message, messages, port: peer.port, sessions: options.concurrency },
      recipient: `r@${RECIPIENT_DOMAIN}`,
    });
  return { ...peer, send };
}
