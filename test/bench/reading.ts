/**
 * Messages that are read in this thread, without the way to another one: for a mailbox, which stores what IMAP answers, and for a route,
 * which posts texts and files.
 */
import { readMailboxMessage } from '../../src/mail/mailbox-message/read.ts';
import { readMessage } from '../../src/mail/message/parse/read-message.ts';
import { oddMessages } from '../mail/message/parse/odd-messages.ts';
import { sampleMessages } from './imap/messages.ts';
import { sampleEmail, toMessage } from './message.ts';
import type { Group, Measure, Row } from './row.ts';

const SAMPLES = 200;
const WARM_UP_ROUNDS = 5;
const ROUNDS = 20;
const MILLISECONDS = 1_000;
/** Maximum size of the files of a post. */
const POSTED_BYTES = 10 * 1024 * 1024;

type Read = (message: Buffer) => unknown;

export const reading: Group = {
  name: 'reading',
  async prepare() {
    const messages = [
      ...sampleMessages(SAMPLES),
      ...Array.from({ length: SAMPLES }, () => Buffer.from(toMessage(sampleEmail()))),
      ...oddMessages(),
    ];
    const row = (name: string, read: Read): Omit<Row, 'comparison'> => ({
      name: `Postrider: read a message, ${name}`,
      unit: 'msg/s',
      measure: () => measureReading(messages, read),
    });
    const job = 'read a message';
    const forRoute = (message: Buffer) => readMessage({ message, content: { upToBytes: POSTED_BYTES } });
    return {
      rows: [
        { ...row('for a mailbox', readMailboxMessage), comparison: { job, role: 'bare path' } },
        {
          ...row('for a route', forRoute),
          comparison: { job, role: 'measured' },
          aim: '>= 0.83 x for a mailbox',
        },
      ],
    };
  },
};

async function measureReading(messages: readonly Buffer[], read: Read): Promise<Measure> {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) for (const message of messages) await read(message);
  const start = process.threadCpuUsage();
  for (let round = 0; round < ROUNDS; round++) for (const message of messages) await read(message);
  const { user, system } = process.threadCpuUsage(start);
  const cpuMs = (user + system) / MILLISECONDS;
  const count = ROUNDS * messages.length;
  return { figure: (count / cpuMs) * MILLISECONDS, cpuMsPerMessage: cpuMs / count };
}
