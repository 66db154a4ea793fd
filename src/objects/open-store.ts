/**
 * Opens the store that a URL of the operator names:
 * - `file:///folder`: a folder of this machine, such as a mounted disk;
 * - `https://host:port`: another host with `postrider standby serve`;
 * - `s3+https://host/bucket` or `s3+https://host/bucket/prefix`: a bucket, with `s3+http` where no TLS is wanted.
 */
import { fileURLToPath } from 'node:url';
import { PIN } from '../system/fetch/pin.ts';
import type { System } from '../system/system.ts';
import { FolderStore } from './folder-store.ts';
import { HostStore, TOKEN } from './host-store.ts';
import { isObjectName, type ObjectStore } from './object-store.ts';
import { S3Store } from './s3-store.ts';

export type StoreSettings = {
  url: string;
  /** The bearer token of another host. */
  token?: string | undefined;
  /** The pin of the key of a server with TLS, whose certificate then need not be trusted. */
  pin?: string | undefined;
  /** The access key of a bucket, and its secret key. */
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  /** The session token of temporary credentials for a bucket. */
  sessionToken?: string | undefined;
  /** The region of a bucket: `us-east-1` unless it is given; most servers of your own accept it. */
  region?: string | undefined;
  /** The place of the bucket in a request: `path` unless it is given. */
  addressing?: 'path' | 'host' | undefined;
};

/** Settings as they can be used. */
type StoreTarget =
  | { kind: 'folder'; folder: string }
  | { kind: 'host'; url: string; token: string; pin: string | undefined }
  | {
      kind: 's3';
      endpoint: string;
      bucket: string;
      prefix: string;
      region: string;
      accessKeyId: string;
      secretAccessKey: string;
      sessionToken: string | undefined;
      addressing: 'path' | 'host';
      pin: string | undefined;
    };

/** Says what is wrong with the settings, in a sentence for the operator. */
export class StoreSettingsError extends Error {
  override readonly name = 'StoreSettingsError';
}

/** Region of servers that have no regions. */
const DEFAULT_REGION = 'us-east-1';
/** Matches the name of a bucket, also as older and other servers allow it. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/;

/**
 * Reads the settings of a store, and connects to nothing.
 * @throws StoreSettingsError
 */
export function readStoreSettings(settings: StoreSettings): StoreTarget {
  const url = URL.parse(settings.url);
  if (!url) throw new StoreSettingsError(`"${settings.url}" is not a URL`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new StoreSettingsError('the URL of a store has no user, password, query or fragment');
  const { pin } = settings;
  if (pin !== undefined && !PIN.test(pin))
    throw new StoreSettingsError(
      'a pin is sha256// with 44 characters of base64, as "standby serve" prints it',
    );
  switch (url.protocol) {
    case 'file:':
      if (url.host !== '')
        throw new StoreSettingsError('the URL of a folder has three slashes: file:///folder');
      return { kind: 'folder', folder: readFolder(url) };
    case 'https:':
      return readHost(url, settings);
    case 's3+https:':
    case 's3+http:':
      return readBucket(settings);
    default:
      throw new StoreSettingsError(
        'the URL of a store begins with file://, https://, s3+https:// or s3+http://',
      );
  }
}

function readFolder(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw new StoreSettingsError(`"${url.href}" names no folder`, { cause: error });
  }
}

function readHost(url: URL, { token, pin }: StoreSettings): StoreTarget {
  if (url.pathname !== '/')
    throw new StoreSettingsError(`the URL of a host has no path: https://${url.host}`);
  if (token === undefined || !TOKEN.test(token))
    throw new StoreSettingsError(
      `the token of ${url.host} is missing, or has characters that a token cannot have`,
    );
  return { kind: 'host', url: url.origin, token, pin };
}

function readBucket({ url: text, ...settings }: StoreSettings): StoreTarget {
  // With a scheme that browsers know, the host is read as that of a web address.
  const url = new URL(text.replace(/^s3\+/i, ''));
  const [bucket = '', ...rest] = url.pathname.split('/').slice(1);
  if (url.host === '' || !BUCKET.test(bucket))
    throw new StoreSettingsError(
      'the URL of a bucket is s3+https://host/bucket or s3+https://host/bucket/prefix',
    );
  const prefix = rest.join('/').replace(/\/$/, '');
  if (prefix !== '' && !isObjectName(prefix))
    throw new StoreSettingsError(
      `the prefix "${prefix}" may have letters, digits, "-", "_", "." and "/" alone`,
    );
  const { accessKeyId = '', secretAccessKey = '', sessionToken, region = DEFAULT_REGION } = settings;
  if (accessKeyId === '' || secretAccessKey === '')
    throw new StoreSettingsError(`a bucket needs an access key and its secret key`);
  return {
    kind: 's3',
    endpoint: url.origin,
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region,
    accessKeyId,
    secretAccessKey,
    sessionToken,
    addressing: settings.addressing ?? 'path',
    pin: settings.pin,
  };
}

/**
 * Opens a store. It connects to nothing before it is used.
 * @throws StoreSettingsError
 */
export function openStore(system: Pick<System, 'clock' | 'dns'>, settings: StoreSettings): ObjectStore {
  const target = readStoreSettings(settings);
  switch (target.kind) {
    case 'folder':
      return new FolderStore(system, target.folder);
    case 'host':
      return new HostStore(system, target);
    case 's3':
      return new S3Store(system, target);
  }
}
