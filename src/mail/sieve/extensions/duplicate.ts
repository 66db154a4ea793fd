/** The test `duplicate` (RFC 7352). */
import { createHash } from 'node:crypto';
import type { Call, Extension } from '../definition.ts';
import type { Run } from '../run/run.ts';

const DAY_SECONDS = 86_400;
/** Time for which a key is remembered when the script names none (RFC 7352 section 3.3). */
const DEFAULT_SECONDS = 7 * DAY_SECONDS;
/** Maximum time. A script that asks for more gets this (RFC 7352 section 3.3). */
const MAX_SECONDS = 30 * DAY_SECONDS;
/** Maximum number of keys that one run remembers. */
const MAX_KEYS = 32;

/** Returns what reads the id of the message; undefined when it has none. */
function idOf(call: Call): (run: Run) => string | undefined {
  if (call.has(':uniqueid')) return call.text(':uniqueid').read;
  const name = call.has(':header') ? call.text(':header') : undefined;
  return (run) => run.message.header.values((name?.read(run) ?? 'message-id').toLowerCase())[0]?.text;
}

export const DUPLICATE: Extension = {
  name: 'duplicate',
  tests: [
    {
      name: 'duplicate',
      tags: [
        { name: ':handle', value: 'text' },
        { name: ':header', value: 'text', group: 'id' },
        { name: ':uniqueid', value: 'text', group: 'id' },
        { name: ':seconds', value: 'number' },
        { name: ':last' },
      ],
      compile(call) {
        const readId = idOf(call);
        const handle = call.has(':handle') ? call.text(':handle') : undefined;
        const given = call.has(':seconds') ? call.number(':seconds') : DEFAULT_SECONDS;
        const seconds = Math.min(given, MAX_SECONDS);
        const isMeasuredFromLast = call.has(':last');
        return (run) => {
          const id = readId(run);
          if (id === undefined || seconds === 0) return false;
          const parts = JSON.stringify([handle?.read(run) ?? null, id]);
          const key = createHash('sha256').update(parts).digest('hex');
          const isDuplicate = run.duplicates.has(key);
          if (!isDuplicate || isMeasuredFromLast) remember(run, key, seconds);
          return isDuplicate;
        };
      },
    },
  ],
};

function remember(run: Run, key: string, seconds: number): void {
  if (run.remembered.some((other) => other.key === key)) return;
  if (run.remembered.length >= MAX_KEYS) run.fail(`a script may remember ${MAX_KEYS} keys of \`duplicate\``);
  run.remembered.push({ key, seconds });
}
