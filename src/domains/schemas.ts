/** Schemas of the domains API (specification 2.2). */
import { type Static, Type } from 'typebox';
import type { DomainStatus } from '../db/tables.ts';
import { isoTime } from '../system/clock.ts';
import { type ClientRecord, clientRecordKey, clientRecordsToPublish } from './client-records.ts';
import type { ClientConfig } from './client-services.ts';
import {
  type OptionalRecordToPublish,
  optionalRecordsToPublish,
  RECORD_KINDS,
  type RecordToPublish,
  recordsToPublish,
} from './records.ts';
import { type Finding, newFinding } from './states.ts';
import type { Domain } from './store.ts';

/**
 * Maximum length of a name (RFC 1035 section 2.3.4). A-labels are never shorter than their Unicode form (RFC 3492), so the
 * limit is right for Unicode too.
 */
const MAX_NAME_CHARACTERS = 253;

const STATUSES = [
  'pending',
  'verified',
  'failed',
  'temporary_failure',
] as const satisfies readonly DomainStatus[];
const status = Type.Enum([...STATUSES]);
const productType = Type.Enum(['api', 'mailbox', 'both'], { description: 'Purpose of the domain.' });
const time = Type.String({ description: 'ISO 8601.' });
const optionalTime = Type.Union([time, Type.Null()]);

export const newDomainSchema = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: MAX_NAME_CHARACTERS,
      description: 'Name of an apex domain or a subdomain.',
    }),
    productType: Type.Optional(
      Type.Enum(['api', 'mailbox', 'both'], { description: 'Purpose of the domain; default api.' }),
    ),
    region: Type.Optional(
      Type.String({ description: 'One of the configured region codes; default the first.' }),
    ),
  },
  { examples: [{ name: 'news.example.com', productType: 'api' }] },
);
export type NewDomain = Static<typeof newDomainSchema>;

export const domainChangeSchema = Type.Object(
  {
    trackingSubdomain: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS }), Type.Null()], {
        description: 'Host name below the domain for tracked links; null for none.',
      }),
    ),
    openTracking: Type.Optional(Type.Boolean()),
    clickTracking: Type.Optional(Type.Boolean()),
    productType: Type.Optional(productType),
    region: Type.Optional(Type.String({ description: 'One of the configured region codes.' })),
  },
  { examples: [{ trackingSubdomain: 'links.news.example.com', clickTracking: true }] },
);
export type DomainChange = Static<typeof domainChangeSchema>;

export const domainFilter = {
  status: Type.Optional(Type.Enum([...STATUSES], { description: 'Only domains with this status.' })),
  name: Type.Optional(Type.String({ description: 'Only the domain with this name.' })),
};

const dnsRecord = {
  type: Type.Enum(['TXT', 'CNAME']),
  name: Type.String({ description: 'DNS name of the record.' }),
  value: Type.String({ description: 'Value to publish.' }),
};

const checked = {
  ttl: Type.String(),
  required: Type.Boolean({ description: 'True when the domain cannot be verified without the record.' }),
  status,
  lastCheckedAt: optionalTime,
  found: Type.Array(Type.String(), { description: 'Values that DNS returned at the last check.' }),
  error: Type.Union([Type.String(), Type.Null()], {
    description: 'Description of what is wrong with the record, for people.',
  }),
};

const recordSchema = Type.Object({
  record: Type.Enum([...RECORD_KINDS, 'TRACKING']),
  ...dnsRecord,
  ...checked,
  alternative: Type.Optional(
    Type.Object(dnsRecord, { description: 'Record that can be published instead.' }),
  ),
  note: Type.Optional(Type.String({ description: 'Remark for people.' })),
});

const optionalRecordSchema = Type.Object({
  record: Type.Enum(['RETURN_PATH', 'MX', 'SRV', 'AUTOCONFIG', 'AUTODISCOVER']),
  purpose: Type.Enum(['return_path', 'inbound', 'clients'], { description: 'Purpose of the record.' }),
  ...dnsRecord,
  type: Type.Enum(['CNAME', 'MX', 'SRV']),
  priority: Type.Optional(
    Type.Integer({ description: 'Preference of an MX record, and priority of an SRV record, lowest first.' }),
  ),
  weight: Type.Optional(Type.Integer({ description: 'Weight of an SRV record.' })),
  port: Type.Optional(Type.Integer({ description: 'Port of an SRV record, whose target is `value`.' })),
  ...checked,
  note: Type.String({ description: 'Description of the purpose, for people.' }),
});

const RETURN_PATH_NOTE =
  'While this record is verified, MAIL FROM is below your own domain, so SPF is aligned for DMARC. Without it, mail is sent with a return path of this installation.';
const INBOUND_NOTE =
  'Publish this record to receive mail of the domain here. Without it, the domain sends, and its mail arrives wherever its MX records lead.';
const CLIENTS_NOTE =
  'Publish this record, and mail programs find the settings of mailboxes of the domain by themselves.';
const TRACKING_NOTE =
  'Tracked links lead to the host of this installation until this record is verified and the host has a TLS certificate.';

export const domainSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status,
    productType,
    region: Type.String(),
    records: Type.Array(recordSchema),
    optionalRecords: Type.Array(optionalRecordSchema, {
      description: 'Optional records. They do not change the status of the domain.',
    }),
    trackingSubdomain: Type.Union([Type.String(), Type.Null()]),
    openTracking: Type.Boolean(),
    clickTracking: Type.Boolean(),
    createdAt: time,
    updatedAt: time,
    verifiedAt: Type.Union([time, Type.Null()], {
      description: 'Time at which all records were last found correct; null when they never were.',
    }),
  },
  { title: 'Domain', examples: [exampleDomain()] },
);

/** Returns a domain as the API shows it. */
export function showDomain(config: ClientConfig, domain: Domain) {
  const { id, name, productType, region, findings } = domain;
  return {
    id,
    name,
    status: domain.status,
    productType,
    region,
    records: recordsToPublish(config, domain, findings.DMARC.parentPolicy?.policy).flatMap((record) => {
      const finding = findings[record.record];
      return finding ? [showRecord(record, finding)] : [];
    }),
    optionalRecords: [
      ...optionalRecordsToPublish(config, domain).map((record) =>
        showOptionalRecord(record, findings[record.record]),
      ),
      ...clientRecordsToPublish(config, domain).map((record) =>
        showOptionalRecord(record, findings.CLIENTS?.[clientRecordKey(record)] ?? newFinding()),
      ),
    ],
    trackingSubdomain: domain.trackingSubdomain,
    openTracking: domain.openTracking === 1,
    clickTracking: domain.clickTracking === 1,
    createdAt: isoTime(domain.createdAt),
    updatedAt: isoTime(domain.updatedAt),
    verifiedAt: showTime(domain.verifiedAt),
  };
}

function showRecord({ alternative, ...record }: RecordToPublish, finding: Finding) {
  return {
    ...record,
    ttl: 'Auto',
    required: record.record !== 'TRACKING',
    ...showFinding(finding),
    ...(alternative && { alternative }),
    ...noteOf(record.record, finding),
  };
}

function noteOf(record: RecordToPublish['record'], { parentPolicy }: Finding): { note?: string } {
  if (record === 'TRACKING') return { note: TRACKING_NOTE };
  if (!parentPolicy) return {};
  const { domain, policy } = parentPolicy;
  return {
    note: `The DMARC policy of ${domain} (p=${policy} for this domain) counts while the domain has no DMARC record of its own.`,
  };
}

function showOptionalRecord(record: OptionalRecordToPublish | ClientRecord, finding: Finding) {
  const notes = { return_path: RETURN_PATH_NOTE, inbound: INBOUND_NOTE, clients: CLIENTS_NOTE } as const;
  const note = notes[record.purpose];
  return { ...record, ttl: 'Auto', required: false, ...showFinding(finding), note };
}

function showFinding({ status, lastCheckedAt, found, error }: Finding) {
  return { status, lastCheckedAt: showTime(lastCheckedAt), found, error };
}

function showTime(value: number | null): string | null {
  return value === null ? null : isoTime(value);
}

/** Returns an example of a domain that was just created and not yet checked. */
function exampleDomain() {
  const unchecked = {
    ttl: 'Auto',
    required: true,
    status: 'pending',
    lastCheckedAt: null,
    found: [],
    error: null,
  };
  const name = 'news.example.com';
  const keyName = `prk3x7q2ma._domainkey.${name}`;
  return {
    id: 'dom_01khq3z5vgxw1r8t6n2m4c9b7d',
    name,
    status: 'pending',
    productType: 'api',
    region: 'sg',
    records: [
      {
        record: 'SPF',
        type: 'TXT',
        name,
        value: 'v=spf1 include:_spf.mx.example.net ~all',
        ...unchecked,
      },
      {
        record: 'DKIM',
        type: 'CNAME',
        name: keyName,
        value: 'prk3x7q2ma.01khq3z5vgxw1r8t6n2m4c9b7d._domainkey.mx.example.net',
        ...unchecked,
        alternative: { type: 'TXT', name: keyName, value: 'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOC' },
      },
      {
        record: 'DMARC',
        type: 'TXT',
        name: `_dmarc.${name}`,
        value: 'v=DMARC1; p=none; np=reject; rua=mailto:reports+01khq3z5vgxw1r8t6n2m4c9b7d@mx.example.net',
        ...unchecked,
      },
    ],
    optionalRecords: [
      {
        record: 'RETURN_PATH',
        purpose: 'return_path',
        type: 'CNAME',
        name: `bounce.${name}`,
        value: 'bounce.mx.example.net',
        ...unchecked,
        required: false,
        note: RETURN_PATH_NOTE,
      },
      {
        record: 'MX',
        purpose: 'inbound',
        type: 'MX',
        name,
        value: 'mx.example.net',
        priority: 10,
        ...unchecked,
        required: false,
        note: INBOUND_NOTE,
      },
    ],
    trackingSubdomain: null,
    openTracking: false,
    clickTracking: false,
    createdAt: '2026-03-01T09:00:00.000Z',
    updatedAt: '2026-03-01T09:00:00.000Z',
    verifiedAt: null,
  };
}
