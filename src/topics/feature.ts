import type { Feature } from '../feature.ts';
import { registerTopicsApi } from './api.ts';

export const topics = {
  name: 'topics',
  ids: ['top'],
  routes: [registerTopicsApi],
  reach: { tenant: ['createTopic', 'listTopics', 'getTopic', 'updateTopic', 'deleteTopic'] },
} satisfies Feature;
