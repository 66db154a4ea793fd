/** The time in which the reply table explains a reply, with as many rows as an operator may ever write. */
import { readFileSync } from 'node:fs';
import { readReplyCodes } from '../../src/queue/outcome/notice.ts';
import { parseReplies } from '../../src/queue/outcome/replies/parse.ts';
import type { ReplyPhase, Row } from '../../src/queue/outcome/replies/row.ts';
import { ReplyTable } from '../../src/queue/outcome/replies/table.ts';
import { DEAD, ROW_EXAMPLES } from '../queue/outcome/replies/examples.ts';
import type { Group, Measure } from './row.ts';

const ROWS = 1_000;
const REPLIES = 100_000;
const WARM_UP_REPLIES = 20_000;

export const replies: Group = {
  name: 'replies',
  async prepare() {
    const table = tableOf(ROWS);
    return {
      rows: [
        {
          name: `reply table: explain a reply, ${ROWS.toLocaleString('en')} rows`,
          unit: 'µs',
          aim: 'below 20 µs',
          measure: async () => measure(table),
        },
      ],
    };
  },
};

/** Returns the packaged table with further rows of phrases before those of codes, which every reply is compared with. */
function tableOf(count: number): ReplyTable {
  const { rows, providers } = parseReplies(readFileSync('config/replies.yaml', 'utf8'));
  const last = rows.findLast(({ section }) => section === 'providers');
  if (!last) throw new Error('the packaged table has no row about a provider');
  const added = Array.from({ length: count - rows.length }, (_, index): Row => {
    const text = [`user unknown ${index}`, `mailbox ${index} * not found`, `reason ${index} of the provider`];
    return { ...last, id: `added-${index}`, provider: undefined, text };
  });
  return new ReplyTable({ rows: [...added, ...rows], providers });
}

function measure(table: ReplyTable): Measure {
  const explained = ROW_EXAMPLES.trim()
    .split('\n')
    .map((line) => line.split('|'))
    .map(([, , phase, host, text = '']) => ({
      phase: phase as ReplyPhase,
      host: host || 'mx.rcpt.example',
      text,
    }))
    .concat(DEAD.map(([, text]) => ({ phase: 'rcpt', host: 'mx.rcpt.example', text })))
    .map((reply) => ({ ...reply, ...readReplyCodes(reply.text), ownNames: ['rcpt.example'] }));
  const run = (count: number): void => {
    for (let index = 0; index < count; index++) {
      const reply = explained[index % explained.length];
      if (reply) table.explain(reply);
    }
  };
  run(WARM_UP_REPLIES);
  // Processor time: other programs of a shared machine would otherwise count.
  const before = process.cpuUsage();
  run(REPLIES);
  const { user, system } = process.cpuUsage(before);
  return { figure: (user + system) / REPLIES };
}
