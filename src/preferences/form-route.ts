/** The headers of the public pages, and the options of the routes that take their forms. */
import { asTransportRefusal } from '../http/transport/refusal.ts';
import { AppError } from '../system/errors.ts';

export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
};

/** Maximum size of a form. A form with all topics of a tenant is smaller. */
const MAX_FORM_BYTES = 16 * 1024;

export const FORM_ROUTE = { bodyLimit: MAX_FORM_BYTES, errorHandler: refuseForm };

/** Refuses a form that is too large or of another type as one that cannot be read: mail programs know no other reason. */
function refuseForm(error: unknown): never {
  const refusal = asTransportRefusal(error, 'a form');
  const isOfForm = refusal?.code === 'payload_too_large' || refusal?.code === 'unsupported_media_type';
  throw isOfForm ? unreadableForm() : error;
}

/** Returns the refusal of a form that is not one of ours. */
export function unreadableForm(): AppError {
  return new AppError('validation_error', 'The form cannot be read');
}
