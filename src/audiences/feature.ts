import type { Feature } from '../feature.ts';
import { registerAudiencesApi } from './api.ts';
import { registerContactsApi } from './contacts/api.ts';
import { registerContactFiles } from './contacts/csv-api.ts';
import { registerSegmentsApi } from './segments/api.ts';
import { createAudienceSweep } from './worker.ts';

export const audiences = {
  name: 'audiences',
  ids: ['aud', 'ct', 'seg'],
  routes: [registerAudiencesApi, registerContactsApi, registerContactFiles, registerSegmentsApi],
  works: [createAudienceSweep],
} satisfies Feature;
