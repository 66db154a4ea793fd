import type { Feature } from '../feature.ts';
import { moveReceivedTasks } from './tasks/store.ts';

export const inbound = {
  name: 'inbound',
  ids: ['in', 'tsk'],
  dueWorks: [{ move: moveReceivedTasks, wakeup: 'inbound' }],
} satisfies Feature;
