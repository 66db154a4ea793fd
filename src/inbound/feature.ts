/** Received messages and their tasks; `store.ts` is the door, and `tasks/kind.ts` for those who run tasks. */
import type { Feature } from '../feature.ts';

export const inbound = {
  name: 'inbound',
  ids: ['in', 'tsk'],
} satisfies Feature;
