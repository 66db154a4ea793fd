/** Audiences with their contacts and segments, and the choices of readers; `contacts/store.ts` is the door. */
import type { Feature } from '../feature.ts';
import { registerAudiencesApi } from './api.ts';
import { registerContactsApi } from './contacts/api.ts';
import { registerContactFiles } from './csv/api.ts';
import { registerWaitingImports } from './csv/waiting-import.ts';
import { createAudienceSweep } from './delete.ts';
import { registerSegmentsApi } from './segments/api.ts';

export const audiences = {
  name: 'audiences',
  ids: ['aud', 'ct', 'seg'],
  routes: [
    registerAudiencesApi,
    registerContactsApi,
    registerContactFiles,
    registerWaitingImports,
    registerSegmentsApi,
  ],
  // A sender of an audience must be at the domain of the key.
  reach: {
    tenant: [
      ...['createAudience', 'listAudiences', 'getAudience', 'updateAudience', 'deleteAudience'],
      ...['createContact', 'listContacts', 'getContact', 'updateContact', 'deleteContact'],
      ...['importContacts', 'previewWaitingImport', 'startImport', 'exportContacts'],
      ...['createSegment', 'listSegments', 'getSegment', 'updateSegment', 'deleteSegment'],
      ...['listSegmentContacts', 'countSegment'],
    ],
  },
  works: [createAudienceSweep],
} satisfies Feature;
