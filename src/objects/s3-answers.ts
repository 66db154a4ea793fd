/** Reads the answers of an S3 server, which are XML: pages of lists, and errors. */
import { readElements, UnreadableDocumentError } from '../mail/xml.ts';
import { cleanForeignText } from '../system/foreign-text.ts';
import { StoreError } from './object-store.ts';
import type { SmallAnswer } from './server-requests.ts';

/** One page of ListObjectsV2. */
type S3Page = { keys: string[]; isTruncated: boolean; token: string | undefined };

/**
 * Reads a page of a list.
 * @throws StoreError
 */
export function readPage(text: string, host: string): S3Page {
  const page: S3Page = { keys: [], isTruncated: false, token: undefined };
  let isList = false;
  try {
    readElements(text, {
      root: 'ListBucketResult',
      onLeaf(path, value) {
        if (path === 'ListBucketResult/Contents/Key') page.keys.push(value);
        if (path === 'ListBucketResult/IsTruncated') page.isTruncated = value === 'true';
        if (path === 'ListBucketResult/NextContinuationToken') page.token = value;
      },
      onEnd(path) {
        isList ||= path === 'ListBucketResult';
      },
    });
  } catch (error) {
    if (!(error instanceof UnreadableDocumentError)) throw error;
  }
  if (isList) return page;
  throw new StoreError('unreachable', `${host} sent a list that cannot be read`);
}

/** Returns the code of an error, such as `NoSuchKey`, and its message for people; both empty when there is none. */
export function readS3Error({ text }: Pick<SmallAnswer, 'text'>): { code: string; message: string } {
  const found = { code: '', message: '' };
  try {
    readElements(text, {
      root: 'Error',
      onLeaf(path, value) {
        if (path === 'Error/Code') found.code = cleanForeignText(value, MAX_CODE_CHARACTERS);
        if (path === 'Error/Message') found.message = cleanForeignText(value, MAX_MESSAGE_CHARACTERS);
      },
      onEnd() {},
    });
  } catch (error) {
    if (!(error instanceof UnreadableDocumentError)) throw error;
  }
  return found;
}

/** Maximum lengths of the code and of the message that are shown. */
const MAX_CODE_CHARACTERS = 64;
const MAX_MESSAGE_CHARACTERS = 300;

/** Codes with status 400 or 409 that stand for a request that may succeed a moment later. */
const PASSING: readonly string[] = [
  'RequestTimeout',
  'OperationAborted',
  'ConditionalRequestConflict',
  'SlowDown',
];

/** Sentences for the mistakes that operators make. */
const SENTENCES: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'does not know the access key',
  SignatureDoesNotMatch: 'says that the secret key does not belong to the access key',
  NoSuchBucket: 'has no such bucket',
  AccessDenied: 'does not allow this to the access key: look at the policy of the bucket',
  RequestTimeTooSkewed: 'says that the clock of this machine is wrong',
  AuthorizationHeaderMalformed: 'expects another region than standby.region names',
  PermanentRedirect: 'has no such bucket in this region: name the host of its region in the URL',
  ExpiredToken: 'says that the credentials have expired',
};

/** Returns the error that an answer stands for. `what` is what was asked, such as `PUT`. */
export function s3Refusal(answer: SmallAnswer, { host, what }: { host: string; what: string }): StoreError {
  const { status } = answer;
  const { code, message } = readS3Error(answer);
  const isPassing =
    status === 429 || (status >= 500 && status !== 501 && status !== 507) || PASSING.includes(code);
  const known = SENTENCES[code];
  if (known !== undefined) return new StoreError('refused', `${host} ${known} (${what}: ${status} ${code})`);
  const detail = [code, message].filter((text) => text !== '').join(', ');
  return new StoreError(
    isPassing ? 'unreachable' : 'refused',
    `${host} answered ${what} with status ${status}${detail === '' ? '' : ` (${detail})`}`,
  );
}
