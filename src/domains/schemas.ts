/** Schemas of the domains API (specification 2.2). */
import { type Static, Type } from 'typebox';
import type { DomainStatus } from '../db/tables.ts';
import { isoTime } from '../system/clock.ts';
import { usesEd25519 } from './keys/states.ts';
import { type MoreRecord, moreRecordKey, moreRecordsToPublish, type RecordsConfig } from './more-records.ts';
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
    ed25519: Type.Optional(
      Type.Boolean({
        description:
          'Sign with an Ed25519 key too, once its optional record is found in DNS (RFC 8463); default false.',
      }),
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
    ed25519: Type.Optional(
      Type.Boolean({
        description: 'Sign with an Ed25519 key too, once its optional record is found in DNS.',
      }),
    ),
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

const OPTIONAL_RECORDS = [
  ...(['RETURN_PATH', 'MX', 'DKIM_NEXT', 'DKIM_ED25519', 'DKIM_ED25519_NEXT'] as const),
  ...(['MTA_STS', 'MTA_STS_ID', 'TLS_RPT', 'SRV', 'AUTOCONFIG', 'AUTODISCOVER'] as const),
] as const satisfies readonly (OptionalRecordToPublish | MoreRecord)['record'][];
const PURPOSES = [
  ...(['return_path', 'inbound', 'dkim_next', 'dkim_ed25519'] as const),
  ...(['mta_sts', 'tls_reports', 'clients'] as const),
] as const satisfies readonly (OptionalRecordToPublish | MoreRecord)['purpose'][];

const optionalRecordSchema = Type.Object({
  record: Type.Enum([...OPTIONAL_RECORDS]),
  purpose: Type.Enum([...PURPOSES], { description: 'Purpose of the record.' }),
  ...dnsRecord,
  type: Type.Enum(['TXT', 'CNAME', 'MX', 'SRV']),
  priority: Type.Optional(
    Type.Integer({ description: 'Preference of an MX record, and priority of an SRV record, lowest first.' }),
  ),
  weight: Type.Optional(Type.Integer({ description: 'Weight of an SRV record.' })),
  port: Type.Optional(Type.Integer({ description: 'Port of an SRV record, whose target is `value`.' })),
  ...checked,
  alternative: Type.Optional(
    Type.Object(dnsRecord, { description: 'Record that can be published instead.' }),
  ),
  note: Type.String({ description: 'Description of the purpose, for people.' }),
});

const keySchema = Type.Object({
  selector: Type.String(),
  algorithm: Type.Enum(['rsa', 'ed25519']),
  state: Type.Enum(['waiting', 'signing', 'retired'], {
    description:
      '`waiting`: signs once its record is found in DNS. `signing`: signs new mail. `retired`: stays published for mail that it has signed.',
  }),
  since: Type.Union([time, Type.Null()], {
    description: 'Time since which a key waits or is retired; null for one that signs.',
  }),
});

const NOTES: Readonly<Record<(typeof PURPOSES)[number], string>> = {
  return_path:
    'While this record is verified, MAIL FROM is below your own domain, so SPF is aligned for DMARC. Without it, mail is sent with a return path of this installation.',
  inbound:
    'Publish this record to receive mail of the domain here. Without it, the domain sends, and its mail arrives wherever its MX records lead.',
  clients:
    'Publish this record, and mail programs find the settings of mailboxes of the domain by themselves.',
  dkim_next:
    'The next DKIM key is looked for here. Publish this record once and keep it, and rotations need no other change.',
  dkim_ed25519: 'Mail is signed with this Ed25519 key too, once the record is verified.',
  mta_sts:
    'Publish both MTA-STS records if all MX records of the domain lead here, and other servers insist on verified TLS for its mail.',
  tls_reports:
    'Publish this record, and other servers report problems with TLS when they deliver mail of the domain here.',
};
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
    ed25519: Type.Boolean({
      description: 'True when mail is signed with Ed25519 too, once that key is found in DNS.',
    }),
    dkimKeys: Type.Array(keySchema, {
      description: 'DKIM keys of the domain, the RSA key that signs first.',
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
export function showDomain(config: RecordsConfig, domain: Domain) {
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
      ...moreRecordsToPublish(config, domain).map((record) =>
        showOptionalRecord(record, findings.CLIENTS?.[moreRecordKey(record)] ?? newFinding()),
      ),
    ],
    ed25519: usesEd25519(domain.keys),
    dkimKeys: showKeys(domain),
    trackingSubdomain: domain.trackingSubdomain,
    openTracking: domain.openTracking === 1,
    clickTracking: domain.clickTracking === 1,
    createdAt: isoTime(domain.createdAt),
    updatedAt: isoTime(domain.updatedAt),
    verifiedAt: showTime(domain.verifiedAt),
  };
}

/** Returns the keys that are or were in use. A selector that waits for a key is only seen in its record. */
function showKeys({ selector, keys }: Pick<Domain, 'selector' | 'keys'>) {
  const main = { selector, algorithm: 'rsa', state: 'signing', since: null } as const;
  const others = keys.flatMap(({ state, since, selector, algorithm }) => {
    if (state === 'unused') return [];
    return [{ selector, algorithm, state, since: state === 'signing' ? null : isoTime(since) }];
  });
  return [main, ...others];
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

function showOptionalRecord(record: OptionalRecordToPublish | MoreRecord, finding: Finding) {
  return { ...record, ttl: 'Auto', required: false, ...showFinding(finding), note: NOTES[record.purpose] };
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
        note: NOTES.return_path,
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
        note: NOTES.inbound,
      },
    ],
    ed25519: false,
    dkimKeys: [{ selector: 'prk3x7q2ma', algorithm: 'rsa', state: 'signing', since: null }],
    trackingSubdomain: null,
    openTracking: false,
    clickTracking: false,
    createdAt: '2026-03-01T09:00:00.000Z',
    updatedAt: '2026-03-01T09:00:00.000Z',
    verifiedAt: null,
  };
}
