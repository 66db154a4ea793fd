/** The section of the configuration for a warm standby. */
import { Type } from 'typebox';
import { section } from './fields.ts';

/** Maximum time between two cuts, in seconds. */
const MAX_PERIOD_SECONDS = 60;
const MAX_KEPT_DAYS = 366;
/** Maximum size of the changes that wait for the store, in MiB. */
const MAX_SPOOL_MEGABYTES = 1_048_576;

export const standbySection = section(
  'A warm standby: everything that changes is sent to a store, seconds later, from which another host can go on (docs/standby.md).',
  {
    store: Type.String({
      default: '',
      description:
        'URL of the store: s3+https://host/bucket/prefix for a bucket, https://host:port for a host that runs "postrider standby serve", or file:///folder. What is sent is encrypted for backup.recipients. Empty: nothing is sent.',
    }),
    accessKeyId: Type.String({ default: '', description: 'Access key of the bucket.' }),
    secretFile: Type.String({
      default: '',
      description:
        'File with the secret access key of the bucket, or with the token of the host. A relative path starts at the folder of this file.',
    }),
    region: Type.String({ default: 'us-east-1', description: 'Region of the bucket.' }),
    pin: Type.String({
      pattern: '^$|^sha256//[A-Za-z0-9+/]{43}=$',
      default: '',
      description:
        'Pin of the certificate of the host, as "postrider standby serve" prints it. Empty: its certificate must be signed by an authority that the system trusts.',
    }),
    periodSeconds: Type.Integer({
      minimum: 1,
      maximum: MAX_PERIOD_SECONDS,
      default: 1,
      description: 'Time between two cuts, in seconds. Each is one object of the store.',
    }),
    keepDays: Type.Integer({
      minimum: 1,
      maximum: MAX_KEPT_DAYS,
      default: 7,
      description:
        'Number of days of which every cut is kept, so that one can go back to it. A new base is sent once in these days, so that the store has up to two of them.',
    }),
    spoolMegabytes: Type.Integer({
      minimum: 16,
      maximum: MAX_SPOOL_MEGABYTES,
      default: 1_024,
      description:
        'Maximum size of the changes that wait on this disk while the store cannot be reached, in MiB. Beyond it a new base is sent once the store is back.',
    }),
  },
);
