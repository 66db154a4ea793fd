/** Checks that the machine has the memory that the daemon needs under load. */
import { usableMemoryBytes } from '../../system/memory.ts';
import { type Check, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('memory');

const BYTES_PER_MEGABYTE = 1024 * 1024;
/** Minimum memory in megabytes. A machine that is sold with 1 GB has a little less, since its kernel takes some. */
const MIN_MEGABYTES = 900;
/** Minimum memory in megabytes with which the daemon starts at all beside the programs of the machine. */
const MIN_STARTING_MEGABYTES = 400;

export const memory = {
  name: 'memory',
  run: async () => [judgeMemory(usableMemoryBytes())],
} satisfies Check;

/** Judges the memory that the daemon may use, in bytes. */
export function judgeMemory(bytes: number): Finding {
  const megabytes = Math.floor(bytes / BYTES_PER_MEGABYTE);
  const says = `${megabytes} MB can be used`;
  const advice = 'give the machine 1 GB or more';
  if (megabytes < MIN_STARTING_MEGABYTES) return fail('this machine', says, advice);
  return megabytes < MIN_MEGABYTES ? warn('this machine', says, advice) : ok('this machine', says);
}
