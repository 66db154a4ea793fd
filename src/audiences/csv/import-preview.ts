/** Shows imported contacts in a preview, and says what the file does not say or says in an unusual way. */
import type { RowReader } from '../../imports/handler.ts';
import { MAX_PROPERTIES } from '../contacts/merge.ts';
import type { WantedContact } from '../contacts/store.ts';
import { forTextFields } from '../contacts/text-fields.ts';
import { isConsentKind } from './import-standing.ts';

/** A contact as a row of a file describes it. */
export type ContactImport = Omit<WantedContact, 'tenantId' | 'audienceId'>;

/** Returns a contact as a preview shows it. */
export function showImported({ email, properties, topics, ...row }: ContactImport) {
  return {
    email,
    ...forTextFields((name) => row[name] ?? null),
    status: statusOf(row),
    properties: properties ?? {},
    topics: Object.entries(topics ?? {}).map(([id, isIn]) => ({
      id,
      subscription: isIn ? 'opt_in' : 'opt_out',
    })),
  };
}

function statusOf({ unsubscribed, pending }: Pick<ContactImport, 'unsubscribed' | 'pending'>) {
  return unsubscribed ? 'unsubscribed' : pending ? 'pending' : 'subscribed';
}

/** Returns the warnings about the contacts of a file. */
export function warnOfContacts(reader: RowReader<ContactImport>, rows: readonly ContactImport[]): string[] {
  const count = (status: string) => rows.filter((row) => statusOf(row) === status).length;
  const left = count('unsubscribed');
  const pending = count('pending');
  const large = rows.filter(({ properties }) => Object.keys(properties ?? {}).length > MAX_PROPERTIES).length;
  const hasConsent =
    reader.columns.some(({ field }) => field !== null && (isConsentKind(field) || field === 'pending')) ||
    left + pending > 0;
  return [
    ...(hasConsent
      ? []
      : ['No column says who has subscribed, so new contacts are subscribed unless they have left before']),
    ...(left > 0 ? [`${left} of ${rows.length} contacts would be unsubscribed`] : []),
    ...(pending > 0
      ? [
          `${pending} of ${rows.length} contacts would be pending: each gets a confirmation mail, and is refused when the audience has no \`optIn\``,
        ]
      : []),
    ...(large > 0
      ? [
          `${large} of ${rows.length} contacts have more than ${MAX_PROPERTIES} properties, and would be refused`,
        ]
      : []),
    ...reader.columns
      .filter(({ heading, field }) => isFolded(heading, field))
      .map(({ heading, field }) => `\`${heading}\` becomes \`${field}\``),
  ];
}

function isFolded(heading: string, field: string | null): boolean {
  return (
    field?.startsWith('properties.') === true && ![field, field.slice('properties.'.length)].includes(heading)
  );
}
