/** The section of the configuration about certificates that an authority issues. */
import { Type } from 'typebox';
import { section } from './fields.ts';

/** Maximum number of orders a day for names of tenants. Let's Encrypt allows an account 2,400 new orders a day. */
const MAX_ORDERS_PER_DAY = 100_000;

export const acmeSection = section(
  "Certificates that an authority such as Let's Encrypt issues by ACME (RFC 8555), for the hostname and all other names that are served.",
  {
    directory: Type.String({
      pattern: '^$|^https?://[^\\s]+$',
      default: '',
      description:
        "URL of the authority's directory, such as https://acme-v02.api.letsencrypt.org/directory. Empty: no certificates are ordered.",
    }),
    acceptTerms: Type.Boolean({
      default: false,
      description: 'Agrees to the terms of the authority. Required with a directory.',
    }),
    email: Type.String({
      pattern: '^$|^[^\\s@,?]+@[^\\s@,?]+$',
      default: '',
      description:
        'Address at which the authority reaches you about the account. Not every authority wants one.',
    }),
    externalAccount: section(
      'An account that you have with the authority outside ACME, if it asks for one.',
      {
        keyId: Type.String({ default: '', description: 'Identifier of the key, as the authority shows it.' }),
        hmacKeyFile: Type.String({
          default: '',
          description:
            'File with the key in base64url, as the authority shows it. It is needed once, to make the account. A relative path starts at the folder of this file.',
        }),
      },
    ),
    profile: Type.String({
      pattern: '^[A-Za-z0-9_.-]*$',
      default: '',
      description:
        'Profile of the certificates, such as shortlived, if the authority has some. Empty: its usual one.',
    }),
    challenges: Type.Array(Type.Enum(['dns-persist-01', 'http-01', 'tls-alpn-01', 'dns-01']), {
      minItems: 1,
      default: ['dns-persist-01', 'http-01', 'tls-alpn-01', 'dns-01'],
      description:
        'Ways to prove the names, in the order in which they are tried: a record that stays in DNS (used where it is published), port 80, port 443, a record that is written for the order (where nameserver or dns.update has the name).',
    }),
    reuseKeys: Type.Boolean({
      default: true,
      description:
        'Keeps the key of a name when its certificate is renewed, so that a TLSA record of it stays right. With false each certificate has a new key.',
    }),
    tenantOrdersPerDay: Type.Integer({
      minimum: 1,
      maximum: MAX_ORDERS_PER_DAY,
      default: 200,
      description:
        'Maximum number of orders within 24 hours for names of tenants, all together. One tenant may use a quarter of them. Renewals that succeed do not count.',
    }),
  },
);
