/** Received messages and their tasks; `store.ts` is the door, and `tasks/worker.ts` for those who run tasks. */
import type { Feature } from '../feature.ts';
import { moveReceivedTasks } from './tasks/store.ts';

export const inbound = {
  name: 'inbound',
  ids: ['in', 'tsk'],
  dueWorks: [{ move: moveReceivedTasks, wakeup: 'inbound' }],
} satisfies Feature;
