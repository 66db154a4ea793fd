/** Sends up to 100 emails, as a list. `x-batch-validation` says what becomes of the others when one is refused. */
import { makeStrictBatch } from '../../../emails/batch-mode.ts';
import { MAX_BATCH_EMAILS } from '../../../emails/schemas.ts';
import { AppError, invalid } from '../../../system/errors.ts';
import type { Given, TranslatedCall } from '../call.ts';
import { inTheirSpelling } from '../problem.ts';
import { translationFor } from './find-template.ts';
import { translateEach } from './send.ts';

type Item = { id: string | null; error?: { message: string } };

/** Refusals of emails that could not be translated, by their place in the batch of a request. */
const untranslated = new WeakMap<Given, ReadonlyMap<number, AppError>>();

export const batchCall: TranslatedCall = {
  at: 'POST /emails/batch',
  operation: 'sendBatch',
  async ask(given, access) {
    if (!Array.isArray(given.body))
      throw new AppError('validation_error', 'The body must be a list of emails');
    const isStrict = readMode(given.headers['x-batch-validation']) === 'strict';
    if (isStrict) makeStrictBatch(access.request);
    // The operation refuses a longer list, and none of its emails is looked at.
    if (given.body.length > MAX_BATCH_EMAILS) return { body: { emails: given.body } };
    const translated = await translateEach(given.body, translationFor(given, access));
    const refusals = new Map(
      translated.flatMap((one, index) => (one instanceof AppError ? [[index, one] as const] : [])),
    );
    for (const [index, refusal] of refusals) if (isStrict) throw atPlace(refusal, index);
    untranslated.set(given, refusals);
    // Null is no email, so the operation refuses it at its place.
    return { body: { emails: translated.map((one) => (one instanceof AppError ? null : one)) } };
  },
  answer: ({ data }: { data: readonly Item[] }, given) => ({
    data: data.flatMap(({ id }) => (id === null ? [] : [{ id }])),
    ...(isPermissive(given) && { errors: data.flatMap((item, index) => errorsOf(item, index, given)) }),
  }),
};

const MODES = ['strict', 'permissive'] as const;

/**
 * Returns how a batch is validated: by default, one email that is refused refuses them all.
 * @throws AppError validation_error for any other value, because the one or the other would send what was not meant
 */
function readMode(header: string | string[] | undefined): (typeof MODES)[number] {
  const mode = MODES.find((one) => one === (header ?? 'strict'));
  if (mode) return mode;
  throw invalid('x-batch-validation', '`x-batch-validation` must be strict or permissive');
}

function isPermissive({ headers }: Given): boolean {
  return readMode(headers['x-batch-validation']) === 'permissive';
}

function atPlace({ code, message, options }: AppError, index: number): AppError {
  return new AppError(code, `Email ${index} of the batch: ${message}`, options);
}

function errorsOf({ error }: Item, index: number, given: Given) {
  if (!error) return [];
  const message = untranslated.get(given)?.get(index)?.message ?? error.message;
  return [{ index, message: inTheirSpelling(message) }];
}
