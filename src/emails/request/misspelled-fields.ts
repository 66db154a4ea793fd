/**
 * Refuses likely misspellings of the fields of a send request: the name that another resource uses, and singular names
 * of lists. A dropped field would silently send a different email. http/json/near-misses.ts refuses names that differ only
 * in case and `_`.
 */
import { meantAmong } from '../../http/json/near-misses.ts';
import { readEach } from '../../http/json/read-fields.ts';
import { invalid } from '../../system/errors.ts';
import type { SendBody } from '../schemas.ts';

const MISSPELLED_FIELDS: Readonly<Record<string, keyof SendBody>> = {
  // Broadcasts use this name (specification 4.5).
  scheduleAt: 'scheduledAt',
  attachment: 'attachments',
  header: 'headers',
  tag: 'tags',
  template: 'templateId',
  topic: 'topicId',
  variable: 'variables',
};

const meantBy = meantAmong(Object.keys(MISSPELLED_FIELDS));

/**
 * Refuses a request with a misspelled field.
 * @throws AppError validation_error naming the field
 */
export function refuseMisspelledFields(body: object): void {
  readEach(Object.keys(body), (field) => {
    const meant = meantBy(field);
    if (meant !== undefined)
      throw invalid(field, `\`${field}\` is not a field; did you mean \`${MISSPELLED_FIELDS[meant]}\`?`);
  });
}
