/**
 * The resources of the ledger: for each kind, the requests that lead to its versions, and a way to tell which version
 * is there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonResponse } from '../support/daemon.ts';

export type Step = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below `/v1`. */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
};

export type Place = { id: string; audienceId: string; name: string };
type Ask = (step: Step) => Promise<DaemonResponse>;

export type Kind = {
  name: string;
  /** Maximum number of this kind that one run makes; below the limits of the API. */
  most: number;
  /** Number of emails that one resource creates. */
  emails: number;
  /** The request that leads to each version. */
  steps: Readonly<Record<number, (place: Place) => Step>>;
  idOf(body: unknown): string;
  /** Returns the version that the API shows, or a description of what is wrong with it. */
  observe(ask: Ask, place: Place): Promise<number | string>;
};

/** The version of a resource that was deleted. */
export const DELETED = 3;

const idOf = (body: unknown): string => (body as { id: string }).id;

type Named = {
  name: string;
  most: number;
  collection(place: Place): string;
  /** Fields of both versions; the field `versionField` ends in `v1` or `v2`. */
  fields(place: Place, version: number): Record<string, unknown>;
  versionField: string;
  isChangeable?: boolean;
  /** Default: the id of the resource. */
  key?(place: Place): string;
};

/** Describes a resource that is created, changed once and deleted. */
function resource({ name, most, collection, fields, versionField, isChangeable = true, key }: Named): Kind {
  const one = (place: Place) => `${collection(place)}/${key?.(place) ?? place.id}`;
  return {
    ...{ name, most, emails: 0, idOf },
    steps: {
      1: (place) => ({ method: 'POST', path: collection(place), body: fields(place, 1) }),
      ...(isChangeable && {
        2: (place: Place) => {
          const value = fields(place, 2)[versionField];
          return { method: 'PATCH', path: one(place), body: { [versionField]: value } } as const;
        },
      }),
      [DELETED]: (place) => ({ method: 'DELETE', path: one(place) }),
    },
    async observe(ask, place) {
      const { status, body } = await ask({ method: 'GET', path: one(place) });
      if (status === 404) return DELETED;
      if (status !== 200) return `GET answers ${status}`;
      const shown = (body as Record<string, unknown>)[versionField];
      const version = [1, 2].find((number) => fields(place, number)[versionField] === shown);
      return version ?? `${versionField} is ${JSON.stringify(shown)}`;
    },
  };
}

const EMAILS_OF_A_BATCH = 3;
const SIMULATED = 'delivered@simulator.mail.test';

const batch: Kind = {
  ...{ name: 'batch', most: 1_000, emails: EMAILS_OF_A_BATCH },
  idOf: (body) => (body as { data: { id: string }[] }).data.map(({ id }) => id).join(),
  steps: {
    1: ({ name }) => ({
      method: 'POST',
      path: '/emails/batch',
      headers: { 'idempotency-key': `batch-${name}` },
      body: {
        emails: Array.from({ length: EMAILS_OF_A_BATCH }, (_, index) => ({
          ...{ from: 'batch@sandbox.mail.test', to: SIMULATED, type: 'transactional', text: 'Batch' },
          subject: `${name} ${index}`,
        })),
      },
    }),
  },
  async observe(ask, { id, name }) {
    for (const [index, emailId] of id.split(',').entries()) {
      const { status, body } = await ask({ method: 'GET', path: `/emails/${emailId}` });
      if (status !== 200) return `GET of an email of a batch answers ${status}`;
      const { subject } = body as { subject: string };
      if (subject !== `${name} ${index}`) return `an email of a batch has the subject ${subject}`;
    }
    return 1;
  },
};

const JOB_PAUSE_MS = 200;
const MAX_JOB_LOOKS = 600;

/** Observes a job: once accepted, it must end by itself after any fault. */
async function observeJob(ask: Ask, path: string): Promise<Record<string, unknown> | string> {
  for (let look = 0; look < MAX_JOB_LOOKS; look++) {
    const { status, body } = await ask({ method: 'GET', path });
    if (status !== 200) return `GET answers ${status}`;
    const job = body as Record<string, unknown>;
    if (job['status'] === 'completed') return job;
    if (job['status'] === 'failed') return `failed: ${JSON.stringify(job)}`;
    await sleep(JOB_PAUSE_MS);
  }
  return 'is not completed after two minutes';
}

const ROWS = 20;

const contactImport: Kind = {
  ...{ name: 'import', most: 8, emails: 0, idOf },
  steps: {
    1: ({ audienceId, name }) => ({
      method: 'POST',
      path: `/audiences/${audienceId}/contacts/imports`,
      headers: { 'content-type': 'text/csv' },
      body: `email\n${Array.from({ length: ROWS }, (_, row) => `${name}-${row}@import.test\n`).join('')}`,
    }),
  },
  async observe(ask, { id, audienceId, name }) {
    const job = await observeJob(ask, `/imports/${id}`);
    if (typeof job === 'string') return job;
    const stored = Number(job['created']) + Number(job['updated']) + Number(job['skipped']);
    if (stored !== ROWS) return `has ${stored} of ${ROWS} rows`;
    const last = `${name}-${ROWS - 1}@import.test`;
    const { status } = await ask({ method: 'GET', path: `/audiences/${audienceId}/contacts/${last}` });
    return status === 200 ? 1 : `GET of its last contact answers ${status}`;
  },
};

const contactExport: Kind = {
  ...{ name: 'export', most: 8, emails: 0, idOf },
  steps: {
    1: ({ audienceId }) => ({ method: 'POST', path: `/audiences/${audienceId}/contacts/exports` }),
  },
  async observe(ask, { id }) {
    const job = await observeJob(ask, `/exports/${id}`);
    if (typeof job === 'string') return job;
    const { status, body } = await ask({ method: 'GET', path: `/exports/${id}/file` });
    if (status !== 200) return `its file answers ${status}`;
    const rows = String(body).trimEnd().split('\n').length - 1;
    return rows === Number(job['rows']) ? 1 : `its file has ${rows} of ${job['rows']} rows`;
  },
};

const address = ({ name }: Place) => `${name}@ledger.test`;

export const KINDS: readonly Kind[] = [
  batch,
  contactImport,
  contactExport,
  resource({
    ...{ name: 'contact', most: 1_000, versionField: 'firstName' },
    collection: ({ audienceId }) => `/audiences/${audienceId}/contacts`,
    fields: (place, version) => ({ email: address(place), firstName: `v${version}` }),
  }),
  resource({
    ...{ name: 'suppression', most: 1_000, versionField: 'email', isChangeable: false },
    collection: () => '/suppressions',
    fields: (place) => ({ email: address(place) }),
    key: address,
  }),
  resource({
    ...{ name: 'template', most: 1_000, versionField: 'name' },
    collection: () => '/templates',
    fields: ({ name }, version) => ({ name: `${name} v${version}`, subject: 'Hi', html: '<p>Hi</p>' }),
  }),
  resource({
    ...{ name: 'webhook endpoint', most: 30, versionField: 'url' },
    collection: () => '/webhooks',
    fields: ({ name }, version) => ({
      url: `https://hooks.test/${name}/v${version}`,
      events: ['domain.verified'],
    }),
  }),
  resource({
    ...{ name: 'API key', most: 60, versionField: 'name' },
    collection: () => '/api-keys',
    fields: ({ name }, version) => ({ name: `${name} v${version}`, permission: 'read_only' }),
  }),
];
