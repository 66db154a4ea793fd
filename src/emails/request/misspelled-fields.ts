/**
 * Fields of a send request that are none, by names this API makes likely: what another resource calls the same thing,
 * and one where it takes several. Dropped silently, they would send another mail than was meant (api.md 1.1; what differs
 * in case and `_` alone is refused by http/near-misses.ts).
 */
import { meantAmong } from '../../http/near-misses.ts';
import { invalid, readEach } from '../../system/errors.ts';
import type { SendBody } from '../schemas.ts';

const MISSPELLED_FIELDS: Readonly<Record<string, keyof SendBody>> = {
  // As broadcasts spell it (specification 4.5).
  scheduleAt: 'scheduledAt',
  attachment: 'attachments',
  header: 'headers',
  tag: 'tags',
  template: 'templateId',
  topic: 'topicId',
  variable: 'variables',
};

const meantBy = meantAmong(Object.keys(MISSPELLED_FIELDS));

/** @throws AppError validation_error naming the field */
export function refuseMisspelledFields(body: object): void {
  readEach(Object.keys(body), (field) => {
    const meant = meantBy(field);
    if (meant !== undefined)
      throw invalid(field, `\`${field}\` is not a field; did you mean \`${MISSPELLED_FIELDS[meant]}\`?`);
  });
}
