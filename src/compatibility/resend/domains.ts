/** The calls about domains. Their records are ours: the names are whole, and DMARC is one of them. */
import { path } from '../../http/json/calls.ts';
import { invalid } from '../../system/errors.ts';
import type { Call, ComposedCall } from './call.ts';
import { type Fields, fieldsOf, given, isFields, isGiven } from './fields.ts';
import { askPage, showPage } from './lists.ts';

type DomainRecord = {
  record: string;
  type: string;
  name: string;
  value: string;
  ttl: string;
  status: string;
  priority?: number;
};

type Domain = {
  id: string;
  name: string;
  status: string;
  region: string;
  records: readonly DomainRecord[];
  optionalRecords: readonly DomainRecord[];
  openTracking: boolean;
  clickTracking: boolean;
  trackingSubdomain: string | null;
  createdAt: string;
};

const showId = ({ id }: Pick<Domain, 'id'>) => ({ object: 'domain', id });

/** Creates a domain, and sets its tracking. A domain whose tracking is refused is not kept. */
const createCall: ComposedCall = {
  at: 'POST /domains',
  operation: 'createDomain',
  async run({ body }, calls) {
    const fields = fieldsOf(body);
    refuse(fields);
    const created = await calls.post<Domain>('/domains', given({ name: fields['name'] }));
    const tracking = readTracking(fields, created.name);
    const isTracked = Object.keys(tracking).length > 0;
    const remove = async (error: unknown): Promise<never> => {
      await calls.delete(path`/domains/${created.id}`);
      throw error;
    };
    const domain = isTracked
      ? await calls.patch<Domain>(path`/domains/${created.id}`, tracking).catch(remove)
      : created;
    return showDomain(domain, wantsToReceive(fields));
  },
};

export const domainCalls: readonly Call[] = [
  createCall,
  {
    at: 'GET /domains',
    operation: 'listDomains',
    ask: askPage,
    answer: showPage((domain: Domain) => showSummary(domain)),
  },
  {
    at: 'GET /domains/:id',
    operation: 'getDomain',
    answer: (domain: Domain) => ({ object: 'domain', ...showDomain(domain, false) }),
  },
  {
    at: 'PATCH /domains/:id',
    operation: 'updateDomain',
    async ask({ body, params }, { calls }) {
      const fields = fieldsOf(body);
      refuse(fields);
      const isNamed = isGiven(fields['tracking_subdomain']);
      const { name } = isNamed
        ? await calls().get<Domain>(path`/domains/${params['id'] ?? ''}`)
        : { name: '' };
      return { body: readTracking(fields, name) };
    },
    answer: showId,
  },
  {
    at: 'DELETE /domains/:id',
    operation: 'deleteDomain',
    answer: (_: undefined, { params }) => ({ object: 'domain', id: params['id'], deleted: true }),
  },
  { at: 'POST /domains/:id/verify', operation: 'verifyDomain', answer: showId },
];

/**
 * Refuses what would make another domain of it.
 * @throws AppError validation_error
 */
function refuse({ tls, capabilities }: Fields): void {
  if (tls === 'enforced')
    throw invalid(
      'tls',
      '`tls` cannot be `enforced`: mail is sent over TLS where the receiving server has it',
    );
  if (isFields(capabilities) && capabilities['sending'] === 'disabled')
    throw invalid(
      'capabilities.sending',
      '`capabilities.sending` cannot be `disabled`: every domain may send',
    );
}

function wantsToReceive({ capabilities }: Fields): boolean {
  return isFields(capabilities) && capabilities['receiving'] === 'enabled';
}

/** Returns the tracking of a domain in our words: the host of tracked links is a whole name there. */
function readTracking(fields: Fields, name: string): Fields {
  const subdomain = fields['tracking_subdomain'];
  const isLabel = typeof subdomain === 'string' && !subdomain.endsWith(`.${name}`);
  return given({
    openTracking: fields['open_tracking'],
    clickTracking: fields['click_tracking'],
    trackingSubdomain: isLabel ? `${subdomain}.${name}` : subdomain,
  });
}

/** Names of our records in Resend's API. Others keep theirs. */
const RECORDS: ReadonlyMap<string, string> = new Map([
  ['TRACKING', 'Tracking'],
  ['MX', 'Receiving'],
]);

function showRecord({ record, name, type, ttl, status, value, priority }: DomainRecord) {
  const shown = { record: RECORDS.get(record) ?? record, name, type, ttl, status, value };
  return { ...shown, ...(priority !== undefined && { priority }) };
}

function showSummary(domain: Domain) {
  return {
    id: domain.id,
    name: domain.name,
    status: domain.status,
    created_at: domain.createdAt,
    region: domain.region,
    capabilities: { sending: 'enabled', receiving: receives(domain) ? 'enabled' : 'disabled' },
    open_tracking: domain.openTracking,
    click_tracking: domain.clickTracking,
    ...(domain.trackingSubdomain !== null && { tracking_subdomain: domain.trackingSubdomain }),
  };
}

/**
 * Returns a domain with the records to publish. That for receiving is one of them when it was asked for, or is published: a program that
 * publishes all records would otherwise lead the mail of the domain here.
 */
function showDomain(domain: Domain, isToReceive: boolean) {
  const mx = isToReceive || receives(domain) ? mxOf(domain) : [];
  return { ...showSummary(domain), records: [...domain.records, ...mx].map(showRecord) };
}

function receives(domain: Domain): boolean {
  return mxOf(domain).some(({ status }) => status === 'verified');
}

function mxOf({ optionalRecords }: Domain): DomainRecord[] {
  return optionalRecords.filter(({ record }) => record === 'MX');
}
